/** Which calls are runs of evaluations: those of the SDKs, whose op is an object, and those that name the op alone. */

export const runFilter = (projectId: string) => ({
  op_names: [`weave:///${projectId}/op/Evaluation.evaluate:*`, "Evaluation.evaluate"],
})
