import type { Context, Hono } from 'hono'
import { MS_PER_DAY, startOf } from '../lib/days.ts'
import { LAUNCHED_MODEL, SECRETS } from './catalogue.ts'
import { emailOn, type Organisation } from './people.ts'
import { draw, entry } from './random.ts'
import { badRequest, limitIn, type Env, type Platform } from './requests.ts'

/** The first revision is this long before the first day of the analytics. */
const BEFORE_HISTORY = 45 * MS_PER_DAY
const BETWEEN_REVISIONS = 4 * MS_PER_DAY
/** The highest number of revisions on a page, whatever the limit. */
const PAGE = 25

/**
 * Adds the history of the enterprise controls, newest revision first; it gains one
 * every four days or so.
 */
export function addControls(app: Hono<Env>, { organisation, now }: Platform): void {
  app.get('/api/v0/organization/enterprise-controls/history', (context) => {
    const limit = limitIn(context, 100) ?? 20
    const from = firstRevision(context, newestRevision(organisation, now()))
    const size = Math.max(0, Math.min(limit, PAGE, from))
    const changes = Array.from({ length: size }, (_, index) => changeOf(organisation, from - index))
    const hasMore = from - size > 0
    const nextCursor = hasMore ? `after_${from - size + 1}` : ''
    return context.json({ changes, pagination: { hasMore, nextCursor } })
  })
}

function firstRevision(context: Context, newest: number): number {
  const cursor = context.req.query('cursor')
  if (cursor === undefined) return newest
  const revision = Number(/^after_(\d{1,9})$/.exec(cursor)?.[1] ?? 0)
  if (revision < 1 || revision > newest) throw badRequest(`cursor '${cursor}' is unknown`)
  return revision - 1
}

function newestRevision(organisation: Organisation, now: number): number {
  const begins = startOf(organisation.firstDay) - BEFORE_HISTORY
  const most = Math.max(0, Math.floor((now - begins) / BETWEEN_REVISIONS) + 1)
  return most > 0 && updatedAt(organisation, most) > now ? most - 1 : most
}

function updatedAt({ firstDay }: Organisation, revision: number): number {
  const begins = startOf(firstDay) - BEFORE_HISTORY
  const late = Math.floor(draw(revision, 1) * 3 * MS_PER_DAY)
  return begins + (revision - 1) * BETWEEN_REVISIONS + late
}

function changeOf(organisation: Organisation, revision: number): object {
  return {
    revision,
    settings: settingsOf(revision),
    user: actorOf(organisation, revision),
    updatedAt: new Date(updatedAt(organisation, revision)).toISOString(),
  }
}

/** One of the first three people with an e-mail address. */
function actorOf({ people }: Organisation, revision: number): object {
  const actors = people.flatMap((person) => {
    const email = emailOn(person, 0)
    return email === null ? [] : [{ id: person.id, email }]
  })
  if (actors.length === 0) return { id: 'user_admin', email: 'admin@acme.example', name: 'Admin' }
  const actor = entry(actors, revision % Math.min(3, actors.length))
  const words = (actor.email.split('@')[0] ?? '').split('.')
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(' ')
  return { ...actor, name }
}

/** The number of settings that change, one with each revision in turn. */
const EDITS = 10

/**
 * The settings of a revision, 1 or later: a pure function. They have every documented
 * property and some undocumented ones; each revision differs from the one before in
 * one setting.
 */
function settingsOf(revision: number): Readonly<Record<string, unknown>> {
  /** The current one of the values through which a setting cycles; `edit` is its turn. */
  const now = <T>(edit: number, values: readonly T[]): T => {
    const made = Math.floor((revision - 2 - edit + EDITS) / EDITS)
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
    maxAutonomyLevel: now(0, ['medium', 'high']),
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
    commandDenylist: now(2, [
      ['rm -rf /', 'shutdown', 'mkfs'],
      ['mkfs', 'rm -rf /', 'shutdown'],
    ]),
    customModels: customModels(now(1, SECRETS.apiKeys)),
    modelPolicy: {
      allowedModelIds: now(3, [
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
    userModelPolicies: now(5, [
      { user_policy_1: { allowedModelIds: ['atlas-2'], blockedModelIds: [] } },
      {
        user_policy_1: { allowedModelIds: ['atlas-2'], blockedModelIds: [] },
        user_policy_2: { allowedModelIds: [], blockedModelIds: ['cobalt-1-deep'] },
      },
    ]),
    enabledPlugins: now(9, [
      { 'review@acme': true, 'wiki@acme': false },
      { 'review@acme': true, 'wiki@acme': true },
    ]),
    extraKnownMarketplaces: {
      acme: { source: { source: 'code-host', repo: 'acme/agent-plugins' } },
      mirror: { source: { source: 'url', url: MARKETPLACE_URL } },
      shared: { source: { source: 'local', path: '/srv/plugins' } },
      monorepo: { source: { source: 'git-subdir', url: MONOREPO_URL, path: 'tools/plugins' } },
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
        allowedDomains: now(7, [['acme.example'], ['acme.example', 'packages.acme.example']]),
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
    sessionRetentionDays: now(4, [30, 90]),
    auditStream: {
      sink: { kind: 'webhook', signingSecret: now(6, SECRETS.unknownSigningSecrets) },
      fallbackPassword: Number(SECRETS.unknownNumber),
      routes: [{ region: SECRETS.unknownPlain }, [SECRETS.unknownInList]],
    },
    ...now(8, [{}, { betaPlanner: { isEnabled: true, seats: 12 } }]),
  }
}

const MARKETPLACE_URL = `https://git:${SECRETS.marketplaceToken}@git.acme.example/plugins.git`
const MONOREPO_URL = 'https://git.acme.example/mono.git'

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
      extraHeaders: { 'x-team': SECRETS.header, authorization: `Bearer ${SECRETS.headerBearer}` },
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
