/** Names used in the document's examples. Tests send the same requests with names and ids of what they stored. */

/** A request of a route. */
export interface ExampleRequest {
  /** Parts of the path. */
  params?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: unknown
  /** A body that is no JSON. */
  text?: string
  /** A body with a file. */
  form?: Record<string, string>
}

/** By the kind of the thing. */
export type ExampleNames = Readonly<Record<keyof typeof exampleNames, string>>

export const exampleNames = {
  entity: "local",
  project: "demo",
  projectId: "local/demo",
  internalProject: "0e3b8d0c-5b86-4c8a-9a0b-3a7f3f0f1d11",
  username: "ada",
  userId: "5c2f3f57-8b0e-4a52-9f1e-0d8f6c1b2a31",
  apiKeyId: "9d1f7e64-22a0-4f5d-b9d5-6a0f0f4c7e52",
  invitationId: "e4b2a9d7-1c3f-4e86-9b5d-2f7c8a6d0e19",
  sessionId: "c0a8e7b1-6d2f-4c19-8d3e-7b5a4f9e1c63",
  modelName: "agent-001",
  modelId: "7a6d5c4b-3e2f-4a1b-8c9d-0e1f2a3b4c74",
  jobId: "1b2c3d4e-5f60-4718-92a3-b4c5d6e7f885",
  sourceJobId: "2c3d4e5f-6071-4829-a3b4-c5d6e7f8c885",
  checkpointId: "2c3d4e5f-6071-4829-a3b4-c5d6e7f80996",
  artifact: "wandb-artifact:///local/demo/agent-001:step0",
  uploadId: "3d4e5f60-7182-493a-b4c5-d6e7f8091aa7",
  objectId: "greeting",
  objectDigest: "Vn3bPq8sT1xZ0yRkLmWc5aHdJfGe2uNoQi7w4tXvB6E",
  objectRef: "weave:///local/demo/object/greeting:Vn3bPq8sT1xZ0yRkLmWc5aHdJfGe2uNoQi7w4tXvB6E",
  alias: "production",
  tag: "reviewed",
  opId: "answer",
  opDigest: "Kd8sJq2vX5mZ1nRtLpWc7aHbYfGe3uMoQi9w4tEvB0S",
  opRef: "weave:///local/demo/object/answer:Kd8sJq2vX5mZ1nRtLpWc7aHbYfGe3uMoQi9w4tEvB0S",
  datasetId: "questions",
  datasetDigest: "Ax4kTq7sB2nZ9yRjLmWc1aHdVfGe6uPoQi5w8tXvC3E",
  datasetRef: "weave:///local/demo/object/questions:Ax4kTq7sB2nZ9yRjLmWc1aHdVfGe6uPoQi5w8tXvC3E",
  modelObjectId: "answerer",
  modelDigest: "Mz6hUq3sD8nX1yRkLpWc4aHbTfGe9uNoQi2w7tJvB5E",
  modelRef: "weave:///local/demo/object/answerer:Mz6hUq3sD8nX1yRkLpWc4aHbTfGe9uNoQi2w7tJvB5E",
  scorerId: "exact_match",
  scorerDigest: "Sc1rVq9sE4nY7xRkLmWb2aHdUfGe5uPoQi8w3tZvB0J",
  scorerRef: "weave:///local/demo/object/exact_match:Sc1rVq9sE4nY7xRkLmWb2aHdUfGe5uPoQi8w3tZvB0J",
  evaluationId: "arithmetic",
  evaluationDigest: "Ev5aWq0sF3nT8zRkLpXc6aHbYfGe1uMoQi4w9tKvB2D",
  evaluationRef: "weave:///local/demo/object/arithmetic:Ev5aWq0sF3nT8zRkLpXc6aHbYfGe1uMoQi4w9tKvB2D",
  specId: "tone",
  specDigest: "Sp2tYq6sG9nV4xRkLmZc0aHdWfGe7uNoQi1w5tXvB8E",
  specRef: "weave:///local/demo/object/tone:Sp2tYq6sG9nV4xRkLmZc0aHdWfGe7uNoQi1w5tXvB8E",
  tableDigest: "8f14e45fceea167a5a36dedd4bea2543aa11d5c3a4c6b1e0d9f8271635445362",
  rowDigest: "Rw7dZq1sH5nU2yRkLpAc9aHbXfGe4uMoQi6w0tTvB3K",
  rowRef:
    "weave:///local/demo/table/8f14e45fceea167a5a36dedd4bea2543aa11d5c3a4c6b1e0d9f8271635445362/id/Rw7dZq1sH5nU2yRkLpAc9aHbXfGe4uMoQi6w0tTvB3K",
  fileDigest: "Fl9eBq4sJ0nW6zRkLmDc3aHdYfGe8uPoQi7w2tUvC1X",
  callId: "01947f3a-8b2c-7d4e-9f5a-6b7c8d9e0f1a",
  traceId: "01947f3a-8b2c-7d4e-9f5a-5a6b7c8d9e0f",
  threadId: "session-17",
  displayName: "first answer",
  callRef: "weave:///local/demo/call/01947f3a-8b2c-7d4e-9f5a-6b7c8d9e0f1a",
  feedbackId: "01947f3b-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
  queueId: "01947f3c-2b3c-7d4e-9f5a-6b7c8d9e0f1a",
  queueName: "tone of answers",
  itemId: "01947f3d-3c4d-7e5f-8a6b-7c8d9e0f1a2b",
  ruleId: "01947f3d-4d5e-7f60-8b7c-9d0e1f2a3b4c",
  costId: "01947f3e-4d5e-7f60-9b7c-8d9e0f1a2b3c",
  costModel: "heddle/tiny",
  runId: "01947f3f-5e6f-7071-8c8d-9e0f1a2b3c4d",
  predictionId: "01947f40-6f70-7182-9d9e-0f1a2b3c4d5e",
  scoreId: "01947f41-7081-7293-8eaf-1a2b3c4d5e6f",
  agentName: "support",
  conversationId: "conversation-42",
  agentTraceId: "0af7651916cd43dd8448eb211c80319c",
  agentSpanId: "b7ad6b7169203331",
  linkId: "01947f42-8192-73a4-9fb0-2b3c4d5e6f70",
  runtimeName: "agent",
  wandbRunName: "2x7k9qvn",
  wandbRunId: "UnVuOjQy",
  wandbFile: "wandb-metadata.json",
  wandbFileId: "RmlsZToxNw==",
  responseId: "resp_6f1d2c3b4a5948d7a6b5c4d3e2f10a9b",
  rolloutId: "order-17-attempt-2",
  rolloutGroup: "order-17",
  wandbCollection: "agent-001-sft-data",
  wandbArtifactId: "QXJ0aWZhY3Q6NDI=",
  wandbDigest: "d41d8cd98f00b204e9800998ecf8427e",
  evaluateCallId: "01947f3f-5e6f-7071-8c8d-9e0f1a2b3c4d",
}
