/*
 * One response of each resource with every documented field. No two fields of a resource
 * have the same value, so that a value tells where it came from.
 */

/** The first day of the history, and the night after it. */
export const DAY = '2026-01-14'
export const NIGHT = Date.parse('2026-01-15T06:00:00Z')
export const ORG = 'org_spec'

const MODEL = { model_id: 'atlas-2', model_tier: 'thinking' }
const SPENT = { billable_tokens: 1101, input_tokens: 1102, output_tokens: 1103 }

export const TOKENS = {
  date: DAY,
  ...SPENT,
  cache_read_tokens: 1104,
  cache_write_tokens: 1105,
  by_model: [{ ...MODEL, ...SPENT }],
  by_user: [
    {
      user_id: 'user-1',
      user_email: 'ada@acme.example',
      billable_tokens: 1101,
      by_model: [{ ...MODEL, ...SPENT }],
    },
  ],
}

export const TOKENS_BY_MODEL = { date: DAY, group_key: 'atlas-2', ...SPENT }

/** The last tool name is a parsing artifact; the servers are one by two spellings. */
export const TOOLS = {
  date: DAY,
  tool_calls: 2101,
  by_tool: [
    { tool: 'Read', invocations: 2097 },
    { tool: 'Read{"file_path":"/tmp/a', invocations: 4 },
  ],
  mcp_users_with_mcp: 2102,
  mcp_by_server: [
    { server: 'Linear', invocations: 2103 },
    { server: 'linear', invocations: 2104 },
  ],
  skills_invocations: 2105,
  skills_by_name: [{ name: 'review', count: 2106 }],
  slash_commands_invocations: 2107,
  slash_commands_by_name: [{ name: '/clear', count: 2108 }],
  hooks_invocations: 2109,
  hooks_by_event: [{ event: 'PostToolUse', matcher: 'Edit|Write', command: 'lint', count: 2110 }],
  web_users: 2111,
  autonomy_ratio_avg: 2.12,
  autonomy_ratio_p50: 2.13,
  autonomy_ratio_p90: 2.14,
  tool_calls_per_session_avg: 2.15,
  user_turns_per_session_avg: 2.16,
  tool_autonomy_level_ratio: { auto_high: 0.4, auto_medium: 0.3, auto_low: 0.2, manual: 0.1 },
}

export const TOOLS_BY_NAME = { date: DAY, group_key: 'Read', tool_calls: 2101 }

/** 31 users on three clients, 36 memberships: at least 3 and at most 5 of them are on several. */
export const ACTIVITY = {
  date: DAY,
  daily_active_users: 31,
  weekly_active_users: 32,
  monthly_active_users: 33,
  daily_active_users_by_client: { 'terminal-ui': 20, web: 15, 'non-interactive-cli': 1 },
  sessions: 3104,
  messages: 3105,
  user_messages: 3106,
}

export const ACTIVITY_BY_CLIENT = { date: DAY, group_key: 'terminal-ui', daily_active_users: 20 }

export const PRODUCTIVITY = {
  date: DAY,
  files_created: 4101,
  files_edited: 4102,
  by_extension: [{ extension: '.ts', count: 4103 }],
  by_language: [{ language: 'TypeScript', count: 4104 }],
  git_commits: 4105,
  git_prs_created: 4106,
}

export const USER = {
  user_id: 'user-1',
  user_email: 'ada@acme.example',
  date: DAY,
  tool_calls: 5101,
  billable_tokens: 1101,
  files_created: 5103,
  files_edited: 5104,
  git_commits: 5105,
  git_prs_created: 5106,
  mcp_calls: 5107,
  skill_calls: 5108,
  slash_commands: 5109,
  hooks: 5110,
  sessions: 5111,
  messages: 5112,
  user_messages: 5113,
  assistant_messages: 5114,
  primary_model: 'atlas-2',
  primary_model_tier: 'thinking',
  autonomy_ratio: 5.15,
  delegation_level: 'auto-high',
  languages: ['Go', 'TypeScript'],
}

const HOSTED = {
  cloudProfile: 'profile-1',
  cloudRegion: 'region-1',
  hostedBaseUrl: 'https://models.example/v1',
  cloudAuthRefresh: 'refresh login',
  cloudCredentialExport: 'export login',
}

export const CUSTOM_MODEL = {
  model: 'own-1',
  provider: 'generic-chat-completion-api',
  id: 'custom-1',
  index: 61,
  baseUrl: 'https://llm.example/v1',
  apiKey: 'k-1f9b0c7e5a3d8264',
  displayName: 'Our own',
  maxContextLimit: 6101,
  thinkingMaxTokens: 6102,
  maxOutputTokens: 6103,
  enableThinking: true,
  noImageSupport: false,
  reasoningEffort: 'xhigh',
  extraHeaders: { 'x-tier': 'gold' },
  extraArgs: { temperature: 0.25 },
  hostedCloud: HOSTED,
}

export const SETTINGS = {
  sessionDefaultSettings: {
    model: 'atlas-2',
    reasoningEffort: 'minimal',
    interactionMode: 'mission',
    autonomyLevel: 'low',
    autonomyMode: 'auto-medium',
    specModeModel: 'cobalt-1',
    specModeReasoningEffort: 'dynamic',
  },
  maxAutonomyLevel: 'medium',
  mcpAutonomyOverrides: { linear: { defaultLevel: 'low', tools: { search: 'high' } } },
  cloudSessionSync: true,
  wikiCloudSync: false,
  includeCoAuthoredByAgent: true,
  enableAgentShield: false,
  ideAutoConnect: true,
  commandAllowlist: ['git status', 'ls'],
  commandDenylist: ['rm -rf'],
  customModels: [CUSTOM_MODEL],
  modelPolicy: {
    allowedModelIds: ['atlas-2'],
    blockedModelIds: ['cobalt-0'],
    allowCustomModels: true,
    allowedBaseUrls: ['https://llm.example'],
    allowAllServiceModels: false,
    isFastModelsAllowed: true,
  },
  mcpPolicy: { enabled: true, allowlist: ['linear'] },
  missionPolicy: { restrictedAccess: true, allowedUserIds: ['user-2'] },
  userModelPolicies: { 'user-3': { allowedModelIds: ['atlas-3'], blockedModelIds: ['cobalt-3'] } },
  enabledPlugins: { 'review@acme': true },
  extraKnownMarketplaces: { acme: { source: { source: 'url', url: 'https://plugins.example' } } },
  strictKnownMarketplaces: [
    { source: 'code-host', repo: 'acme/plugins' },
    { source: 'url', url: 'https://plugins.example/all' },
    { source: 'local', path: '/srv/plugins' },
    { source: 'git-subdir', url: 'https://git.example/p', path: 'sub/plugins' },
  ],
  networkPolicy: { allowedIps: ['192.0.2.0/24'] },
  sandbox: {
    enabled: true,
    filesystem: {
      allowWrite: ['/w1'],
      allowRead: ['/r1'],
      denyWrite: ['/w2'],
      denyRead: ['/r2'],
    },
    network: {
      allowedDomains: ['git.example'],
      allowUnixSockets: ['/run/a.sock'],
      allowAllUnixSockets: false,
      allowLocalBinding: true,
      httpProxyPort: 3128,
      socksProxyPort: 1080,
    },
  },
  restrictMemberVisibility: true,
  restrictApiKeyCreationToManagers: true,
  managedComputersEnabled: false,
  byomComputersEnabled: true,
  managedComputersAllowedEmails: ['grace@acme.example'],
  byomComputersAllowedEmails: ['ada@acme.example'],
  sessionRetentionDays: 90,
}

export const CHANGE = {
  revision: 7101,
  settings: SETTINGS,
  user: { id: 'user-9', email: 'owner@acme.example', name: 'The Owner' },
  updatedAt: '2026-01-13T10:11:12.000Z',
}

export const LIMITS = {
  globalLimit: 20_000_000,
  userLimits: [{ email: 'ada@acme.example', limit: 30_000_000 }],
}

export const LIMITS_RESULT = {
  updated: [{ email: 'ada@acme.example', limit: 30_000_000 }],
  errors: [{ email: 'who@acme.example', error: 'not a member' }],
}

export const REPORT = {
  reportId: '0b54a1de-6c3f-4b57-9d0e-0a1b2c3d4e5f',
  createdAt: Date.parse('2026-01-12T01:02:03Z'),
  repoUrl: 'https://code.acme.example/acme/web',
  apps: { 'apps/web': { description: 'the shop' }, 'apps/api': { description: 'its API' } },
  report: { has_tests: { numerator: 81, denominator: 82, rationale: 'one has none' } },
  commitHash: '9f8e7d6c5b4a39281706f5e4d3c2b1a098765432',
  branch: 'main',
  hasLocalChanges: true,
  hasNonRemoteCommits: false,
  modelUsed: { id: 'atlas-2', reasoningEffort: 'off' },
  agentVersion: '0.9.1',
}

const usage = (base: number) => ({
  inputTokens: base + 1,
  outputTokens: base + 2,
  cacheCreationTokens: base + 3,
  cacheReadTokens: base + 4,
  thinkingTokens: base + 5,
  serviceCredits: base + 6,
})

export const SESSION = {
  sessionId: 'session-1',
  status: 'pending',
  messageCount: 9101,
  createdAt: Date.parse('2026-01-14T01:00:00Z'),
  updatedAt: Date.parse('2026-01-14T02:00:00Z'),
  title: 'Fix the flaky test',
  completedAt: Date.parse('2026-01-14T03:00:00Z'),
  computerId: 'computer-1',
  sessionSettings: {
    model: 'atlas-2',
    specModeModel: 'cobalt-1',
    providerLockTimestamp: '2026-01-14T01:00:01.000Z',
    assistantActiveTimeMs: 9102,
    tokenUsage: usage(9200),
    inclusiveTokenUsage: usage(9300),
    childInclusiveTokenUsageBySessionId: { 'session-2': usage(9400) },
    archivedAt: '2026-01-14T04:00:00.000Z',
    tags: [{ name: 'bug', metadata: { area: 'ci' } }],
    enabledToolIds: ['Read'],
    disabledToolIds: ['Bash'],
  },
}

export const MESSAGE = {
  id: 'message-1',
  role: 'assistant',
  content: [{ type: 'text', text: 'Here is the fix.', id: 'block-1' }],
  createdAt: Date.parse('2026-01-14T01:30:00Z'),
  updatedAt: Date.parse('2026-01-14T01:31:00Z'),
  parentId: 'message-0',
  userMessageSource: 'issue-tracker',
  visibility: 'user_only',
  vendorBMessageId: 'vb-1',
  vendorBEncryptedContent: 'vb-2',
  vendorBReasoningId: 'vb-3',
  vendorBReasoningSummary: 'vb-4',
  vendorBPhase: 'commentary',
  vendorCThoughtSignature: 'vc-1',
  chatCompletionReasoningField: 'reasoning_content',
  chatCompletionReasoningContent: 'because',
  isUserVisible: true,
  isError: false,
}

export const COMPUTER = {
  id: 'computer-1',
  name: 'build-box',
  providerType: 'sandbox-provider',
  createdAt: Date.parse('2026-01-10T00:00:00Z'),
  hostId: '1c54a1de-6c3f-4b57-9d0e-0a1b2c3d4e5f',
  hostname: 'build-box.internal',
  status: 'provisioning',
  provisioningSteps: [
    {
      id: 'install-deps',
      name: 'Install dependencies',
      status: 'failed',
      error: 'exit 1',
      startedAt: Date.parse('2026-01-10T00:01:00Z'),
      completedAt: Date.parse('2026-01-10T00:02:00Z'),
      installSessionId: 'session-3',
    },
  ],
  relayClientUrl: 'wss://relay.example/client',
  relayAgentUrl: 'wss://relay.example/agent',
  remoteUser: 'dev',
}

export const SAMPLE = {
  timestamp: '2026-01-14T05:00:00.000Z',
  cpuUsedPct: 12.5,
  cpuCount: 8,
  memUsed: 101,
  memTotal: 102,
  diskUsed: 103,
  diskTotal: 104,
}

export const PROBLEM = {
  detail: 'endDate is today',
  status: 400,
  title: 'Bad Request',
  metadata: { parameter: 'endDate', latest: '2026-01-13' },
  requestId: 'req_spec_1',
}
