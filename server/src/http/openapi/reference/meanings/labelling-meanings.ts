/** Annotation queues. */
import type { Meanings } from "./meanings.ts"

export const labellingMeanings: Meanings = {
  everywhere: {
    queue_id: "Id of an annotation queue.",
    display_fields: "What annotators are shown of the call, such as `inputs.question`.",
    required_annotators: "How many people complete each item; absent: the server does not count.",
    note: "Why it was decided so; null: nobody said.",
    call_op_name: "Op of the call, as it was when the call was added.",
    call_trace_id: "Trace of the call.",
  },
  requests: {
    queue_ids: "Ids of annotation queues.",
    item_id: "Id of an item of a queue.",
    lease_seconds: "How long the item is kept for the caller; absent: as the queue says.",
    annotation_state: "`in_progress`, `completed` or `skipped`.",
    disputed: "true: only items whose annotators disagree.",
    adjudicated: "true: only items whose disputes are all decided; false: only others.",
    annotation_states: "Only items in any of these states.",
    include_position: "Add the place of each item in the order that was asked for.",
    added_by: "Id of the user who added the item.",
  },
  answers: {
    item: "The item, as it is now.",
    queue: "The queue, as it is now.",
    scorer_refs: "Refs of the annotation specs that annotators fill in.",
    lease: "How long the item is the caller's; null: it is not.",
    lease_seconds: "For how long an item is handed out, in seconds; left out where it is 900.",
    feedback_id: "The label, as a piece of feedback; null: the value is the decider's own.",
    labels: "Labels of annotators who have completed the item, the newest of each for a field.",
    final_label: "What was decided.",
  },
  schemas: {
    AnnotationItem: {
      call_started_at: "When the call began.",
      call_ended_at: "When the call ended; null: it had not when it was added.",
      annotation_state: "State of the annotator who worked on it last; `unstarted`: nobody has.",
      annotator_user_id: "Id of the user who worked on it last; null: nobody has.",
      position_in_queue: "Place in the order that was asked for, from 1; null unless `include_position` asks for it.",
    },
    FieldAgreement: {
      annotators: "How many people labelled these items.",
      units: "Items with labels of two annotators or more.",
      labels: "Labels of these items.",
      percent_agreement:
        "Share of the pairs of labels of an item that are equal, from 0 to 1, the mean over items; null: there is nothing to compare.",
      cohen_kappa: "Agreement beyond chance of two annotators; null where there are not two, or it is not defined.",
      fleiss_kappa:
        "Agreement beyond chance of three annotators or more; null where there are fewer, or it is not defined.",
      krippendorff_alpha_nominal:
        "Agreement beyond chance of any number of annotators, labels being equal or not; null: not defined.",
      krippendorff_alpha_interval:
        "As the nominal one, by how far labels are apart; null where a label is no number, or it is not defined.",
    },
    AnnotatorAgreement: {
      annotator_user_id: "Id of the user.",
      percent_agreement: "Mean of the fields' `percent_agreement`.",
      fields: "How often the user agrees with others on each annotation spec.",
    },
    "AnnotatorAgreement.fields": {
      field: "Name of an annotation spec.",
      pairs: "Pairs of a label of the user and one of somebody else, on the same item.",
      percent_agreement: "Share of these pairs that are equal, from 0 to 1.",
    },
    "FieldAgreement, FinalLabel": { field: "Name of the annotation spec." },
    FinalLabel: {
      value: "What counts.",
      decided_by: "Id of the user who decided.",
      decided_at: "When it was decided.",
    },
    FinalLabelBody: {
      feedback_id: "The label of an annotator that counts, by its feedback; or give `value`.",
      value: "What counts, where no label says it; it must fit the schema of the annotation spec.",
    },
    FinalLabelParams: { field: "Name of an annotation spec." },
    ItemHistory: { history: "What annotators did with the item, the oldest first." },
    "ItemHistory.history": {
      event: "What the annotator did: `start`, `complete`, `skip` or `undo`.",
      annotator_user_id: "Id of the user who did it.",
      state_before: "The annotator's own state before.",
      state_after: "The annotator's own state after.",
    },
    ItemLabel: {
      field: "Name of the annotation spec that was filled in.",
      value: "What the annotator filled in.",
      annotator_user_id: "Id of the user who labelled.",
      feedback_id: "The label, as a piece of feedback.",
    },
    ItemsAdded: {
      added_count: "How many calls are in the queue now that were not.",
      duplicates: "How many were in it already; calls that are not there are in neither count.",
    },
    ItemsPage: { items: "The items, in the order that was asked for." },
    LabelledItem: {
      disputed_fields: "Names of annotation specs in which labels differ.",
      final_labels: "What was decided, one for each field at most.",
    },
    LabelledItems: {
      items: "Items with their labels.",
      next_after: "For `after` of the next page; null: this is the last one.",
    },
    LabelsQueryBody: { limit: "The most items to answer; absent: 100." },
    Lease: { expires_at: "When the item is handed out again, by the database's clock." },
    NextBody: {
      ahead: "How many more items to hold behind the first; absent: none are taken, and none are listed.",
    },
    NextItem: {
      ahead: "What comes after the item, each with its lease; only where the request has `ahead`.",
      item: "The item to work on; null: nothing is left for the caller for now.",
      leased_by_others: "Where there is no item: how many are in other hands and may come back; else 0.",
    },
    QueueAgreement: {
      percent_agreement: "Mean of the fields' `percent_agreement`; null: there is nothing to compare.",
      fields: "Agreement on each annotation spec.",
      annotators: "How far each annotator's labels equal those of the others.",
      suggestions: "Of each annotation spec that labels with a `suggestion` were given for: how many took it.",
    },
    OwnItemCounts: {
      completed: "Items that the caller completed.",
      skipped: "Items that the caller skipped.",
      open: "Items that the caller holds or might be handed still.",
    },
    QueueAnnotator: {
      annotator_user_id: "Id of a user who has done something in the queue, or holds an item.",
      username: "Name of the user; null: the user is gone.",
      completed: "Items that the user completed.",
      skipped: "Items that the user skipped.",
      holding: "Items that are in the user's hands now.",
      last_active_at: "When the user last did something with an item, or was handed one.",
    },
    QueueCaller: {
      user_id: "Id of the caller.",
      may_label: "Whether the caller may take and finish items.",
      may_write: "Whether the caller may change queues and decide disputes.",
    },
    QueueItemCounts: {
      finished: "Completed by as many people as an item needs.",
      held: "Else: in somebody's hands now.",
      part: "Else: completed by some of the people it needs.",
      returned: "Else: skipped by somebody.",
      open: "None of these.",
    },
    QueueWorkAnswer: {
      caller: "Who asks, and what they may do in the project.",
      queues: "One for each live queue of the request, in its order.",
    },
    "QueueWorkAnswer.queues": {
      total_items: "Items of the queue.",
      items: "How many items are how far; each counts once.",
      own: "What the caller did, and has before them.",
      annotators: "Who works on the queue, by name.",
    },
    SuggestionCount: {
      field: "Name of an annotation spec.",
      offered: "Labels whose payload has a `suggestion`.",
      accepted: "Those of them that say the same.",
    },
    QueueCreateBody: {
      name: "Name of the queue; several may have the same.",
      required_annotators: "How many people complete each item; absent or 0: the server does not count.",
      lease_seconds: "For how long an item is handed out; absent: 900.",
    },
    QueueStatsAnswer: { stats: "One for each queue of the request, in its order." },
    "QueueStatsAnswer.stats": {
      total_items: "Items of the queue; 0 also for a queue that is not there.",
      completed_items: "Items that anybody has completed or skipped.",
    },
    QueueUpdateBody: {
      required_annotators: "How many people complete each item; 0: the server does not count any more.",
      lease_seconds: "For how long an item is handed out, in seconds.",
    },
    QueuesQueryBody: { name: "Occurs in the name, whatever the case of its letters." },
  },
}
