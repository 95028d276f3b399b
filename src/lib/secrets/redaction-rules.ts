/**
 * What is kept at a place of an item. `word`: one short word of an enum; `id`: an identifier,
 * which may look random; `text`: any text, except what looks like a secret; `number`: a
 * number, and no string. An array holds the rule of its elements; in an object, `*` is the
 * rule of every other field.
 */
export type Rule =
  'word' | 'id' | 'text' | 'number' | readonly Rule[] | { readonly [field: string]: Rule }

const source: Rule = { source: 'word', repo: 'text', url: 'text', path: 'text' }

const customModel: Rule = {
  model: 'id',
  provider: 'word',
  id: 'id',
  baseUrl: 'text',
  displayName: 'text',
  reasoningEffort: 'word',
  index: 'number',
  maxContextLimit: 'number',
  thinkingMaxTokens: 'number',
  maxOutputTokens: 'number',
  hostedCloud: { cloudProfile: 'text', cloudRegion: 'word', hostedBaseUrl: 'text' },
}

/** Every place of `settings` where the specification documents a string that is no secret. */
const settings: Rule = {
  sessionDefaultSettings: {
    model: 'id',
    reasoningEffort: 'word',
    interactionMode: 'word',
    autonomyLevel: 'word',
    autonomyMode: 'word',
    specModeModel: 'id',
    specModeReasoningEffort: 'word',
  },
  maxAutonomyLevel: 'word',
  mcpAutonomyOverrides: { '*': { defaultLevel: 'word', tools: { '*': 'word' } } },
  commandAllowlist: ['text'],
  commandDenylist: ['text'],
  customModels: [customModel],
  modelPolicy: { allowedModelIds: ['id'], blockedModelIds: ['id'], allowedBaseUrls: ['text'] },
  mcpPolicy: { allowlist: ['text'] },
  missionPolicy: { allowedUserIds: ['id'] },
  userModelPolicies: { '*': { allowedModelIds: ['id'], blockedModelIds: ['id'] } },
  enabledPlugins: { '*': {} },
  extraKnownMarketplaces: { '*': { source } },
  strictKnownMarketplaces: [source],
  networkPolicy: { allowedIps: ['id'] },
  sandbox: {
    filesystem: {
      allowWrite: ['text'],
      allowRead: ['text'],
      denyWrite: ['text'],
      denyRead: ['text'],
    },
    network: {
      allowedDomains: ['text'],
      allowUnixSockets: ['text'],
      httpProxyPort: 'number',
      socksProxyPort: 'number',
    },
  },
  managedComputersAllowedEmails: ['id'],
  byomComputersAllowedEmails: ['id'],
  sessionRetentionDays: 'number',
}

const step: Rule = { id: 'id', name: 'id', status: 'id', error: 'text', installSessionId: 'id' }

/**
 * The documented places in the items of each resource. Elsewhere, a string is redacted under
 * a name for secrets, and otherwise loses what looks like a secret. In enterprise controls,
 * every string and number at an undocumented place is a secret.
 */
export const RULES: Rule = {
  enterprise_controls: {
    revision: 'number',
    settings,
    user: { id: 'id', email: 'id', name: 'text' },
    updatedAt: 'id',
  },
  usage_limits: { userLimits: [{ email: 'id' }] },
  // documented, because a criterion may have a name for secrets, like `secret_scanning`
  readiness_reports: {
    repoUrl: 'id',
    branch: 'id',
    commitHash: 'id',
    modelUsed: { id: 'id', reasoningEffort: 'id' },
    apps: { '*': { description: 'text' } },
    report: { '*': { rationale: 'text', numerator: {}, denominator: {} } },
  },
  computers: { name: 'id', hostname: 'id', remoteUser: 'id', provisioningSteps: [step] },
  sessions: {
    sessionSettings: {
      model: 'id',
      specModeModel: 'id',
      tags: [{ name: 'id' }],
      enabledToolIds: ['id'],
      disabledToolIds: ['id'],
    },
  },
  messages: { vendorCThoughtSignature: 'id' },
  hook_events: {
    input: { hook_event_name: 'id', session_id: 'id', cwd: 'id', message: 'text', reason: 'id' },
  },
}
