import { LAUNCHED_MODEL } from './catalogue.ts'
import { entry } from './random.ts'
import { SECRETS } from './secrets.ts'

/** What a revision changes, in turn. */
const EDITS = [
  'maxAutonomyLevel',
  'apiKey',
  'orderOfDenylist',
  'allowedModels',
  'sessionRetentionDays',
  'userModelPolicies',
  'signingSecret',
  'allowedDomains',
  'newProperty',
  'plugins',
] as const

type Edit = (typeof EDITS)[number]

/**
 * The settings as of a revision, 1 or later: a pure function of it. Every
 * documented property is there, and some that no specification names; each
 * revision differs from the one before in one thing.
 */
export function settingsOf(revision: number): Readonly<Record<string, unknown>> {
  /** One of the values that an edit goes through, by how often it was made. */
  const now = <T>(edit: Edit, values: readonly T[]): T => {
    const made = Math.floor((revision - 2 - EDITS.indexOf(edit) + EDITS.length) / EDITS.length)
    return entry(values, made % values.length)
  }
  return {
    sessionDefaultSettings: {
      model: 'atlas-2',
      reasoningEffort: 'medium',
      interactionMode: 'auto',
      autonomyLevel: 'medium',
      autonomyMode: 'auto-medium',
      specModeModel: 'atlas-2-thinking',
      specModeReasoningEffort: 'high',
    },
    maxAutonomyLevel: now('maxAutonomyLevel', ['medium', 'high']),
    mcpAutonomyOverrides: {
      linear: { defaultLevel: 'medium', tools: { linear___get_issue: 'high' } },
    },
    cloudSessionSync: true,
    wikiCloudSync: false,
    includeCoAuthoredByAgent: true,
    enableAgentShield: true,
    ideAutoConnect: false,
    commandAllowlist: [
      'git status',
      `curl -H "Authorization: Bearer ${SECRETS.commandToken}" https://ci.acme.example`,
    ],
    commandDenylist: now('orderOfDenylist', [
      ['rm -rf /', 'shutdown', 'mkfs'],
      ['mkfs', 'rm -rf /', 'shutdown'],
    ]),
    customModels: customModels(now('apiKey', SECRETS.apiKeys)),
    modelPolicy: {
      allowedModelIds: now('allowedModels', [
        ['atlas-2', 'atlas-2-thinking', 'cobalt-1'],
        ['atlas-2', 'atlas-2-thinking', 'cobalt-1', LAUNCHED_MODEL.id],
      ]),
      blockedModelIds: ['boreal-mini'],
      allowCustomModels: true,
      allowedBaseUrls: ['https://models.acme.example/v1'],
      allowAllServiceModels: false,
      isFastModelsAllowed: true,
    },
    mcpPolicy: { enabled: true, allowlist: ['linear', 'github', 'sentry'] },
    missionPolicy: { restrictedAccess: true, allowedUserIds: ['user_mission_1', 'user_mission_2'] },
    userModelPolicies: now('userModelPolicies', [
      { user_policy_1: { allowedModelIds: ['atlas-2'], blockedModelIds: [] } },
      {
        user_policy_1: { allowedModelIds: ['atlas-2'], blockedModelIds: [] },
        user_policy_2: { allowedModelIds: [], blockedModelIds: ['cobalt-1-deep'] },
      },
    ]),
    enabledPlugins: now('plugins', [
      { 'review@acme': true, 'wiki@acme': false },
      { 'review@acme': true, 'wiki@acme': true },
    ]),
    extraKnownMarketplaces: {
      acme: { source: { source: 'code-host', repo: 'acme/agent-plugins' } },
      mirror: {
        source: {
          source: 'url',
          url: `https://git:${SECRETS.marketplaceToken}@git.acme.example/plugins.git`,
        },
      },
      shared: { source: { source: 'local', path: '/srv/plugins' } },
      monorepo: {
        source: {
          source: 'git-subdir',
          url: 'https://git.acme.example/mono.git',
          path: 'tools/plugins',
        },
      },
    },
    strictKnownMarketplaces: [{ source: 'code-host', repo: 'acme/agent-plugins' }],
    networkPolicy: { allowedIps: ['192.0.2.0/24', '2001:db8::/32'] },
    sandbox: {
      enabled: true,
      filesystem: {
        allowWrite: ['/workspace'],
        allowRead: ['/workspace', '/usr'],
        denyWrite: ['/etc'],
        denyRead: ['/root'],
      },
      network: {
        allowedDomains: now('allowedDomains', [
          ['acme.example'],
          ['acme.example', 'packages.acme.example'],
        ]),
        allowUnixSockets: ['/run/agent.sock'],
        allowAllUnixSockets: false,
        allowLocalBinding: true,
        httpProxyPort: 3128,
        socksProxyPort: 1080,
      },
    },
    restrictMemberVisibility: false,
    restrictApiKeyCreationToManagers: true,
    managedComputersEnabled: true,
    byomComputersEnabled: true,
    managedComputersAllowedEmails: ['ada.abara@acme.example', 'alan.backus@acme.example'],
    byomComputersAllowedEmails: ['alan.backus@acme.example'],
    sessionRetentionDays: now('sessionRetentionDays', [30, 90]),
    auditStream: {
      sink: { kind: 'webhook', signingSecret: now('signingSecret', SECRETS.unknownSigningSecrets) },
      fallbackPassword: Number(SECRETS.unknownNumber),
      routes: [{ region: SECRETS.unknownPlain }, [SECRETS.unknownInList]],
    },
    ...now('newProperty', [{}, { betaPlanner: { isEnabled: true, seats: 12 } }]),
  }
}

function customModels(apiKey: string): readonly object[] {
  return [
    {
      model: 'acme-coder',
      provider: 'generic-chat-completion-api',
      id: 'custom:acme-coder',
      index: 0,
      baseUrl: `https://svc:${SECRETS.modelUrlPassword}@models.acme.example/v1?key=${SECRETS.modelUrlQuery}`,
      apiKey,
      displayName: 'Acme Coder',
      maxContextLimit: 200000,
      thinkingMaxTokens: 16000,
      maxOutputTokens: 32000,
      enableThinking: true,
      noImageSupport: true,
      reasoningEffort: 'high',
      extraHeaders: {
        'x-team': SECRETS.header,
        authorization: `Bearer ${SECRETS.headerBearer}`,
      },
      extraArgs: {
        temperature: 0.2,
        top: SECRETS.extraArg,
        nested: [{ deeper: { value: SECRETS.deepExtraArg } }],
      },
    },
    {
      model: 'hosted-large',
      provider: 'vendor_c',
      hostedCloud: {
        cloudProfile: 'agents',
        cloudRegion: 'eu-central-1',
        hostedBaseUrl: 'https://hosted.acme.example',
        cloudAuthRefresh: `cloud login --secret ${SECRETS.cloudAuthRefresh}`,
        cloudCredentialExport: `echo '{"SecretAccessKey":"${SECRETS.cloudCredentialExport}"}'`,
      },
    },
  ]
}
