/**
 * What may pass at a place of an item. `word`: one short word of an enum; `id`:
 * what names something, which may look random; `text`: anything, but for what looks like a
 * secret; `number`: a number, and no string.
 */
export interface Rule {
  readonly leaf?: 'word' | 'id' | 'text' | 'number'
  readonly fields?: ReadonlyMap<string, Rule>
  /** Of the fields of a map. */
  readonly any?: Rule
  readonly elements?: Rule
}

const word: Rule = { leaf: 'word' }
const id: Rule = { leaf: 'id' }
const text: Rule = { leaf: 'text' }
const number: Rule = { leaf: 'number' }

function object(fields: Readonly<Record<string, Rule>>): Rule {
  return { fields: new Map(Object.entries(fields)) }
}

function map(any: Rule): Rule {
  return { any }
}

function array(elements: Rule): Rule {
  return { elements }
}

const source = object({ source: word, repo: text, url: text, path: text })

const customModel = object({
  model: id,
  provider: word,
  id,
  baseUrl: text,
  displayName: text,
  reasoningEffort: word,
  index: number,
  maxContextLimit: number,
  thinkingMaxTokens: number,
  maxOutputTokens: number,
  hostedCloud: object({ cloudProfile: text, cloudRegion: word, hostedBaseUrl: text }),
})

/** Every place of `settings` where the specification knows a string that is no secret. */
const settings = object({
  sessionDefaultSettings: object({
    model: id,
    reasoningEffort: word,
    interactionMode: word,
    autonomyLevel: word,
    autonomyMode: word,
    specModeModel: id,
    specModeReasoningEffort: word,
  }),
  maxAutonomyLevel: word,
  mcpAutonomyOverrides: map(object({ defaultLevel: word, tools: map(word) })),
  commandAllowlist: array(text),
  commandDenylist: array(text),
  customModels: array(customModel),
  modelPolicy: object({
    allowedModelIds: array(id),
    blockedModelIds: array(id),
    allowedBaseUrls: array(text),
  }),
  mcpPolicy: object({ allowlist: array(text) }),
  missionPolicy: object({ allowedUserIds: array(id) }),
  userModelPolicies: map(object({ allowedModelIds: array(id), blockedModelIds: array(id) })),
  enabledPlugins: map({}),
  extraKnownMarketplaces: map(object({ source })),
  strictKnownMarketplaces: array(source),
  networkPolicy: object({ allowedIps: array(id) }),
  sandbox: object({
    filesystem: object({
      allowWrite: array(text),
      allowRead: array(text),
      denyWrite: array(text),
      denyRead: array(text),
    }),
    network: object({
      allowedDomains: array(text),
      allowUnixSockets: array(text),
      httpProxyPort: number,
      socksProxyPort: number,
    }),
  }),
  managedComputersAllowedEmails: array(id),
  byomComputersAllowedEmails: array(id),
  sessionRetentionDays: number,
})

/** A revision of the enterprise controls: every other string and number of it is a secret. */
const enterpriseControls = object({
  revision: number,
  settings,
  user: object({ id, email: id, name: text }),
  updatedAt: id,
})

/** Names of criteria and paths are not those of secrets: `secret_scanning` is a criterion. */
const readinessReports = object({
  repoUrl: id,
  branch: id,
  commitHash: id,
  modelUsed: object({ id, reasoningEffort: id }),
  apps: map(object({ description: text })),
  report: map(object({ rationale: text, numerator: {}, denominator: {} })),
})

const step = object({ id, name: id, status: id, error: text, installSessionId: id })

const sessionSettings = object({
  model: id,
  specModeModel: id,
  tags: array(object({ name: id })),
  enabledToolIds: array(id),
  disabledToolIds: array(id),
})

const hookInput = object({
  hook_event_name: id,
  session_id: id,
  cwd: id,
  message: text,
  reason: id,
})

/**
 * What is documented of the items of each resource. Elsewhere in them strings pass
 * but under names of secrets, and lose what looks like one; of enterprise
 * controls they do not pass.
 */
export const RULES: ReadonlyMap<string, Rule> = new Map([
  ['enterprise_controls', enterpriseControls],
  ['usage_limits', object({ userLimits: array(object({ email: id })) })],
  ['readiness_reports', readinessReports],
  ['computers', object({ name: id, hostname: id, remoteUser: id, provisioningSteps: array(step) })],
  ['sessions', object({ sessionSettings })],
  ['messages', object({ vendorCThoughtSignature: id })],
  ['hook_events', object({ input: hookInput })],
])
