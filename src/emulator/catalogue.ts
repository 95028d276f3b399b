/** A model of the platform. `price`: credits per weighted token. */
export interface Model {
  readonly id: string
  readonly tier: 'standard' | 'thinking'
  readonly price: number
}

/** The models of the first day; a person's favourite is one of these. */
export const FIRST_MODELS: readonly Model[] = [
  { id: 'atlas-2', tier: 'standard', price: 1 },
  { id: 'atlas-2-thinking', tier: 'thinking', price: 1.5 },
  { id: 'boreal-mini', tier: 'standard', price: 0.25 },
  { id: 'cobalt-1', tier: 'standard', price: 0.6 },
  { id: 'cobalt-1-deep', tier: 'thinking', price: 1.2 },
]

export const LAUNCHED_MODEL: Model = { id: 'atlas-3-thinking', tier: 'thinking', price: 1.8 }

export const CLIENTS = ['terminal-ui', 'web', 'non-interactive-cli'] as const
export type Client = (typeof CLIENTS)[number]

export const DELEGATION_LEVELS = ['auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'] as const
export type DelegationLevel = (typeof DELEGATION_LEVELS)[number]

/** People with similar habits. Weights and chances are per person and day. */
export interface Team {
  readonly name: string
  /** Weight of the team among the organisation's people. */
  readonly size: number
  /** How much of a working day a weekend or holiday is. */
  readonly restPace: number
  readonly sessions: number
  readonly turnsPerSession: number
  readonly toolsPerTurn: number
  readonly editsPerTool: number
  readonly mcpShare: number
  /** Chance of each client of CLIENTS, independent of the others. */
  readonly clients: readonly [number, number, number]
  /** Weights of DELEGATION_LEVELS. */
  readonly delegation: readonly [number, number, number, number, number]
  /** First is the favourite. */
  readonly languages: readonly string[]
  /** MCP servers as this team spells them. */
  readonly servers: readonly string[]
}

const CAFE_COMPOSED = 'Caf\u00e9 Docs'
const CAFE_DECOMPOSED = 'Cafe\u0301 Docs'

// prettier-ignore
export const TEAMS: readonly Team[] = [
  { name: 'platform', size: 22, restPace: 0.12, sessions: 4, turnsPerSession: 5, toolsPerTurn: 9,
    editsPerTool: 0.1, mcpShare: 0.15, clients: [0.95, 0.15, 0.4], delegation: [5, 3, 1, 1, 1],
    languages: ['Go', 'Python', 'HCL', 'Shell'],
    servers: ['linear', 'github', 'sentry', 'postgres'] },
  { name: 'product', size: 34, restPace: 0.06, sessions: 5, turnsPerSession: 6, toolsPerTurn: 7,
    editsPerTool: 0.16, mcpShare: 0.2, clients: [0.75, 0.5, 0.05], delegation: [2, 4, 2, 2, 1],
    languages: ['TypeScript', 'CSS', 'HTML', 'SQL'],
    servers: ['Linear', 'GitHub', CAFE_COMPOSED, 'figma'] },
  { name: 'data', size: 16, restPace: 0.08, sessions: 3, turnsPerSession: 7, toolsPerTurn: 5,
    editsPerTool: 0.12, mcpShare: 0.3, clients: [0.6, 0.45, 0.25], delegation: [1, 2, 3, 2, 2],
    languages: ['Python', 'SQL', 'YAML'],
    servers: ['LINEAR ', 'Postgres', CAFE_DECOMPOSED] },
  { name: 'mobile', size: 14, restPace: 0.04, sessions: 3, turnsPerSession: 4, toolsPerTurn: 6,
    editsPerTool: 0.14, mcpShare: 0.08, clients: [0.85, 0.3, 0], delegation: [1, 1, 2, 1, 3],
    languages: ['Kotlin', 'Swift', 'C++'],
    servers: ['Linear', 'Sentry', 'figma'] },
  { name: 'support', size: 8, restPace: 0.35, sessions: 2, turnsPerSession: 3, toolsPerTurn: 2,
    editsPerTool: 0.03, mcpShare: 0.5, clients: [0.05, 0.98, 0], delegation: [0, 1, 1, 0, 5],
    languages: ['Markdown'],
    servers: ['linear', 'Sentry', CAFE_COMPOSED] },
  { name: 'automation', size: 6, restPace: 0.85, sessions: 14, turnsPerSession: 1, toolsPerTurn: 14,
    editsPerTool: 0.05, mcpShare: 0.05, clients: [0, 0, 1], delegation: [1, 0, 0, 0, 0],
    languages: ['Go', 'TypeScript', 'YAML'],
    servers: ['github'] },
]

export const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  Go: ['.go', '.mod'],
  Python: ['.py', '.ipynb'],
  HCL: ['.tf'],
  Shell: ['.sh'],
  TypeScript: ['.ts', '.tsx', '.mts'],
  CSS: ['.css', '.scss'],
  HTML: ['.html'],
  SQL: ['.sql'],
  YAML: ['.yml', '.yaml'],
  Kotlin: ['.kt', '.kts'],
  Swift: ['.swift'],
  'C++': ['.cpp', '.h'],
  Markdown: ['.md'],
}

/** The weight of each name among its kind. */
export type Weights = Readonly<Record<string, number>>

// prettier-ignore
export const BUILT_IN_TOOLS: Weights = {
  Read: 34, Execute: 22, Edit: 16, Grep: 11, Glob: 5, LS: 4, Create: 4, TodoWrite: 3, ApplyPatch: 2,
  WebSearch: 2, FetchUrl: 1, Task: 1,
}

/** Tools of each MCP server, by the server's plain name. */
export const MCP_TOOLS: Readonly<Record<string, Weights>> = {
  linear: { linear___get_issue: 5, linear___list_issues: 3, linear___create_comment: 2 },
  github: {
    github___get_pull_request: 4,
    github___search_code: 3,
    github___create_pull_request: 1,
  },
  sentry: { sentry___get_issue_details: 1 },
  postgres: { postgres___query: 6, postgres___list_tables: 1 },
  'caf\u00e9 docs': { cafe_docs___search: 1 },
  figma: { figma___get_file: 1 },
}

/** Tool names that the platform records for calls that it cannot parse. */
export const UNPARSED_TOOLS: readonly string[] = [
  'Read{"file_path":"src/a.ts"}',
  '{"name": "Exec',
  'Edit","arguments',
  '<tool>Grep',
]

/** One starts with `=`: a spreadsheet must show it, not run it. */
export const SKILLS: Weights = {
  'code-review': 8,
  'release-notes': 4,
  'migrate-tests': 3,
  'r\u00e9sum\u00e9-du-sprint': 2,
  '=cost-report': 1,
}

// prettier-ignore
export const SLASH_COMMANDS: Weights = {
  '/review': 7, '/compact': 6, '/model': 3, '/fix-ci': 3, '/standup <team>': 1,
}

export const HOOKS = [
  { event: 'PostToolUse', matcher: 'Edit|Create', command: 'prettier --write "$FILE"', weight: 9 },
  { event: 'PostToolUse', matcher: 'Execute', command: '.hooks/audit.sh', weight: 4 },
  { event: 'Notification', matcher: '', command: 'notify-send "agent waits"', weight: 3 },
  { event: 'Stop', matcher: '', command: '.hooks/done.sh', weight: 3 },
  { event: 'SubagentStop', matcher: '', command: '.hooks/done.sh', weight: 1 },
  { event: 'SessionEnd', matcher: '', command: 'C:\\hooks\\archive.cmd', weight: 1 },
] as const

// prettier-ignore
export const FIRST_NAMES: readonly string[] = [
  'ada', 'alan', 'barbara', 'chen', 'dorothy', 'edsger', 'frances', 'grace', 'hedy', 'ines',
  'jos\u00e9', 'katherine', 'linus', 'margaret', 'niklaus', 'olga', 'priya', 'quentin', 'radia',
  'sofia', 'tim', 'ursula', 'vera', 'wei', 'ximena', 'yukihiro', 'zainab',
]

// prettier-ignore
export const LAST_NAMES: readonly string[] = [
  'abara', 'backus', 'cerf', 'diffie', 'engelbart', 'floyd', 'goldberg', 'hopper', 'iverson',
  'johnson', 'knuth', 'lamport', 'mccarthy', 'naur', 'okafor', 'perlman', 'quispe', 'ritchie',
  'shaw', 'thompson', 'ullman', 'vaughan', 'wirth', 'xu', 'yao', 'zuse',
]

/** Secrets in the settings and resources, which no file, log line or error may contain. */
export const SECRETS = {
  /** `customModels[].apiKey`; the key is changed now and then. */
  apiKeys: ['sk-demo-9fK2vQ7xLm4TbW8cRz5H', 'sk-demo-Yp3NsD6wJe1GuA0hXk7C'],
  header: 'hdr-7Qm2Zx9Lk4Vn8Tb3',
  headerBearer: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkZW1vIn0.c2lnbmF0dXJlLW9mLXRoZS1kZW1v',
  extraArg: 'arg-5Hd8Jw2Pz6Rc1Yt',
  deepExtraArg: 'deep-arg-3Xk9Sf7Bn4Mv',
  cloudCredentialExport: 'cloud-4Tg6Wq8Ze1Uj5Ap0',
  cloudAuthRefresh: 'refresh-2Lr7Nc9Vd3Qs',
  modelUrlPassword: 'url-pass-8Kf3Hy5Tm',
  modelUrlQuery: 'url-query-6Bz1Wp4Xe',
  marketplaceToken: 'ghp_demo7Jx2Qm9Ls4Vt8Rn3Kc5Zd',
  commandToken: 'sk-demo-command-1Ue8Gi6Oa3Yb',
  /** Under names that are not in the specification. */
  unknownSigningSecrets: ['whsec-0Vb4Nm7Xq2Lz', 'whsec-9Ty6Re3Wp8Kd'],
  unknownPlain: 'plain-name-5Sj1Dk8Fh',
  unknownInList: 'in-a-list-7Mc2Vx4Nb',
  unknownNumber: '4938172640',
  relayToken: 'relay-3Pq7Lt9Xm2Wz',
  relayPassword: 'relay-pass-6Dn4Hs8Kv',
  stepErrorToken: 'sk-demo-step-8Rw5Ec2Ti7Yn',
  tagToken: 'tag-2Gh9Jk4Lz7Xp',
  messageToken: 'sk-demo-message-4Fv8Bn3Mq6Kw',
} as const

/** Every secret that the stand-in platform serves. */
export const DEMO_SECRETS: readonly string[] = Object.values(SECRETS).flat()
