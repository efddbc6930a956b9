/** Digests come from weave 0.54.0's own `compute_object_digest_result`, run on the same values. */
import { describe, expect, test } from "vitest"
import { contentDigest } from "../../json/digests.ts"
import { pythonJson } from "../../json/python-json.ts"
import { builtinObject } from "./builtin-objects.ts"

test.each([
  [
    "AnnotationSpec",
    "AnnotationSpec",
    "P84kFPRUSrPrWjXWTZPUOziUYykw29qhX31JkuKZAZI",
    String.raw`{"name":"n","field_schema":{"type":"integer","minimum":1.5}}`,
  ],
  ["AnnotationSpec", "AnnotationSpec", "mX2Yx4KrqY6v1S3G6wykpZwJuYVsIZbKrcENLS0TBpw", String.raw`{}`],
  [
    "Leaderboard",
    "Leaderboard",
    "TOF3sYcggENVMWx8QRtAQZXS2B8QAY92LV8V2mWSiaA",
    String.raw`{"name":"b","columns":[{"evaluation_object_ref":"weave:///e/p/object/x:1","scorer_name":"s","summary_metric_path":"a.b"}]}`,
  ],
  [
    "AlertSpec",
    "AlertSpec",
    "jqBR4KfFfKV8LJwnxdsSXpU6sTrrzJGUWkug3fhiDPM",
    String.raw`{"spec":{"threshold":5,"window_size":10,"unknown":1}}`,
  ],
  ["AlertSpec", "AlertSpec", "fn3do5TDPadxtSGQfOwl3xELzKTExHrwvbsx7Z82oA8", String.raw`{}`],
  [
    "Provider",
    "Provider",
    "A8Mim8rcbM98qRLGcmA8xFXTCq5YhdqRujFGZz8uVuw",
    String.raw`{"base_url":"https://api.openai.com/v1","api_key_name":"K"}`,
  ],
  [
    "ProviderModel",
    "ProviderModel",
    "jeU1UcnydCCgj0XsXLzzZSHaAnuWKhOcPds8JiwcQdA",
    String.raw`{"name":"m","provider":"p","max_tokens":4096.0}`,
  ],
  [
    "LLMStructuredCompletionModel",
    "Model",
    "F8sxy3eDwD2FZmzsFDy13XfxvYLBSgX2QXn7a7RPoUU",
    String.raw`{"llm_model_id":"gpt-4o","default_params":{"messages_template":[{"role":"user","content":"hi {x}"}],"temperature":1,"max_tokens":5,"response_format":"text"}}`,
  ],
  [
    "LLMStructuredCompletionModel",
    "Model",
    "2xqwmfWtqCL7VPjZ5eCWqjnRXvqIXsj17UXGMLNql68",
    String.raw`{"llm_model_id":"gpt-4o"}`,
  ],
  [
    "ComparisonView",
    "ComparisonView",
    "1ymbhs5NW96HYaazLwlNmXKmVBUmHELuEFTVYlFBJPA",
    String.raw`{"label":"l","definition":{"evaluation_call_ids":["a"],"column_visibility":{"x":true}}}`,
  ],
  [
    "SavedView",
    "SavedView",
    "sbfsQ30CpueyqefPwHsYc0WE0lthTHZlRDf2kOXFzuw",
    String.raw`{"view_type":"traces","label":"l","definition":{"filter":{"op_names":["a"],"trace_roots_only":true},"query":{"$expr":{"$and":[{"$eq":[{"$getField":"op_name"},{"$literal":"x"}]},{"$not":[{"$gt":[{"$convert":{"input":{"$getField":"inputs.a"},"to":"int"}},{"$literal":3}]}]},{"$in":[{"$getField":"id"},[{"$literal":"y"}]]},{"$contains":{"input":{"$getField":"b"},"substr":{"$literal":"z"}}}]}},"columns":[{"path":["a",0],"label":"A"}],"pin":{"left":[],"right":["x"]},"sort_by":[{"field":"a","direction":"desc"}],"page":1,"charts":[{"x_axis":"a","y_axis":"b"}],"dynamic_leaderboard_config":{"model_configuration":{"version_groups":[{"label":"l","base_ref":"r","versions":"*","show_version_indicator":false}]}}}}`,
  ],
  [
    "AgentDashboard",
    "AgentDashboard",
    "x6XDqzJ6Lp4Yg7ALlaZ9pCVX8nh0lTDsUGYqbPBYzbI",
    String.raw`{"label":"l","definition":{"panels":[{"id":"1","panel_type":"kpi","layout":{"x":0,"y":0,"w":6,"h":2},"settings":{"query":{"metric":"m"}}},{"id":"2","panel_type":"breakdown","layout":{"x":6,"y":0,"w":18,"h":2},"settings":{"title":"t","query":{"metric":"m","groupBy":"g","format":"cost"}}}]}}`,
  ],
  [
    "TestOnlyInheritedBaseObject",
    "TestOnlyNestedBaseObject",
    "ZgNPFSU91ckXwaezaRTRyVQpAkpznkXs9u0CiNze0r4",
    String.raw`{"b":1,"c":2}`,
  ],
  [
    "TestOnlyExample",
    "TestOnlyExample",
    "f8MeGCzs8MlERF3QzzKqREkiC6yadxISbTFS9rlfcSc",
    String.raw`{"primitive":1,"nested_base_model":{"a":1,"aliased_property_alias":2},"nested_base_object":"x"}`,
  ],
])("objects 3.1: %s (%s) is completed as weave 0.54.0 completes it", (name, base, digest, json) => {
  const built = builtinObject(name, json)
  expect(contentDigest(pythonJson(built.text, { sortKeys: true }))).toBe(digest)
  expect(built.classes).toEqual({ base, leaf: name })
})

test("objects 3.1: free JSON in a builtin object keeps its spelling", () => {
  expect(builtinObject("AnnotationSpec", '{"field_schema":{"maximum":1.50,"minimum":-9007199254740993}}').text).toBe(
    '{"_type":"AnnotationSpec","name":null,"description":null,' +
      '"field_schema":{"maximum":1.50,"minimum":-9007199254740993},"unique_among_creators":false,"op_scope":null,' +
      '"_class_name":"AnnotationSpec","_bases":["BaseObject","BaseModel"]}',
  )
})

test.each([
  ["AnnotationSpec", '{"field_schema":{"type":"number"}}', { text: '{"type":"number"}', place: "val.field_schema" }],
  [
    "ActionSpec",
    '{"name":"a","config":{"action_type":"llm_judge","model":"m","prompt":"p","response_schema":{"maximum":1.0}}}',
    { text: '{"maximum":1.0}', place: "val.config.response_schema" },
  ],
  ["ActionSpec", '{"name":"a","config":{"action_type":"contains_words","target_words":[]}}', null],
  ["Provider", '{"base_url":"https://x","api_key_name":"k"}', null],
])("objects 3.1: the schema that a builtin object holds is told: %s %s", (name, json, schema) => {
  expect(builtinObject(name, json).schema).toEqual(schema)
})

describe("objects 3.1: a builtin object that is none is refused, naming the field", () => {
  test.each([
    ["Nothing", "{}", /Unknown object class: "Nothing"; the builtin ones are AnnotationSpec, /],
    ["constructor", "{}", /Unknown object class/],
    ["AnnotationSpec", '{"field_schema":"string"}', /val\.field_schema must be an object, not "string"/],
    ["AnnotationSpec", '{"op_scope":[1]}', /val\.op_scope\.0 must be a string, not 1/],
    ["Leaderboard", "{}", /val\.columns must be there, it is missing/],
    ["Provider", '{"base_url":"ftp://x","api_key_name":"k"}', /val\.base_url must be an http or https address/],
    ["ProviderModel", '{"provider":"p","max_tokens":1.5}', /val\.max_tokens must be an integer, not 1\.5/],
    ["LLMStructuredCompletionModel", '{"llm_model_id":"m","x":1}', /val\.x must be left out/],
    [
      "SavedView",
      '{"view_type":"v","label":"l","definition":{"query":{"$expr":{"constructor":[]}}}}',
      /val\.definition\.query\.\$expr must be an operation/,
    ],
    [
      "AgentDashboard",
      '{"label":"l","definition":{"panels":[{"id":"1","panel_type":"kpi","layout":{"x":20,"y":0,"w":6,"h":1},"settings":{"query":{"metric":"m"}}}]}}',
      /val\.definition\.panels\.0\.layout must be within 24 columns/,
    ],
    [
      "AgentDashboard",
      '{"label":"l","definition":{"panels":[{"id":"1"}]}}',
      /val\.definition\.panels\.0\.panel_type must be one of kpi, timeline, breakdown, not null/,
    ],
    [
      "ActionSpec",
      '{"name":"a","config":{"action_type":"llm_judge","model":"m","response_schema":{}}}',
      /val\.config\.prompt must be there/,
    ],
    [
      "ActionSpec",
      '{"name":"a","config":{"action_type":"shell"}}',
      /val\.config\.action_type must be one of llm_judge, contains_words, not "shell"/,
    ],
  ])("%s %s", (name, json, message) => {
    expect(() => builtinObject(name, json)).toThrow(message)
  })
})
