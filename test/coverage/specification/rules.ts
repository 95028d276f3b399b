/** A rule of the specification, and the tests of the client or the warehouse that hold it. */
export interface Rule {
  readonly rule: string
  readonly file: string
  /** Names of tests, with those of the groups they are in, joined by ` › `. */
  readonly tests: readonly string[]
}

const CLIENT = 'test/client/resources.test.ts'
const BOUNDS = 'test/client/bounds.test.ts'
const FIELDS = 'test/coverage/fields.deep.ts'
const ENDPOINTS = 'test/coverage/endpoints.test.ts'
const LIMITS = 'test/model/platform/limit-usage.test.ts'
const DATA = 'the data that the specification describes'

const rule = (text: string, file: string, ...tests: readonly string[]): Rule => ({
  rule: text,
  file,
  tests,
})
const refused = (...whats: readonly string[]): string[] =>
  whats.map((what) => `bounds › ${what} is refused before any request`)

/** By heading of the page. */
export const RULES: Readonly<Record<string, readonly Rule[]>> = {
  'Analytics envelope': [
    rule(
      '`data`: an array',
      ENDPOINTS,
      'the envelope of analytics › data: an answer without it is an error, and not an empty day',
      'the envelope of analytics › data: an answer whose rows are no list is an error, and not an empty day',
    ),
    rule(
      '`meta.org_id`',
      FIELDS,
      `${DATA} › every row is of the organisation that the answers name`,
    ),
    rule(
      '`meta.start_date`, `meta.end_date`',
      ENDPOINTS,
      'the envelope of analytics › meta.start_date: an answer of other days is an error, and not an empty day',
      'the envelope of analytics › meta.end_date: an answer of other days is an error, and not an empty day',
    ),
    rule(
      '`meta.has_more`, `meta.next_cursor`',
      ENDPOINTS,
      'the envelope of analytics › meta.has_more and meta.next_cursor lead through the pages of users',
      'the envelope of analytics › meta.has_more without a cursor is an error, and not the end of the users',
    ),
  ],
  'Credit limits': [
    rule(
      'a limit is a whole number of credits, or null: no limit',
      CLIENT,
      'the limits › have no end where the global one is removed',
    ),
    rule(
      'a user limit of null removes the individual override; entries that fail are in `errors`',
      CLIENT,
      'the limits › are read, set for all, and set for each, failures by user',
    ),
    rule(
      'the global limit applies to every user without an individual override',
      LIMITS,
      'the limit of a user › is the global one',
    ),
    rule(
      'an individual override goes before the global limit',
      LIMITS,
      'the limit of a user › is their own before the global one, whatever the case of the address',
    ),
  ],
  'Analytics data quality': [
    rule(
      'MCP server names contain case-variant duplicates',
      FIELDS,
      `${DATA} › spellings of an MCP server are one server, their invocations summed`,
    ),
    rule(
      'about 0.006 % of tool-name entries contain parsing artifacts',
      FIELDS,
      `${DATA} › a tool name that is a parsing artifact counts for its tool`,
    ),
    rule(
      'a user on several clients counts once, and appears in each client',
      FIELDS,
      `${DATA} › a user of several clients counts once, and in each client`,
    ),
  ],
  States: [
    rule(
      'session: `idle`, `pending`, `running`',
      FIELDS,
      ...['idle', 'pending', 'running'].map(
        (each) => `${DATA} › a session that is ${each} is in fct_session`,
      ),
    ),
    rule(
      'interrupt of a running session, and of an idle one: no error',
      CLIENT,
      'the sessions › are interrupted while they run, and nothing happens to an idle one',
    ),
    rule(
      'interrupt where it is not enabled: 403',
      CLIENT,
      'the sessions › are not interrupted where it is not enabled',
    ),
    rule(
      'computer: `provisioning`, `active`, `error`',
      FIELDS,
      ...['provisioning', 'active', 'error'].map(
        (each) => `${DATA} › a computer that is ${each} is in dim_computer`,
      ),
    ),
    rule(
      'install-deps: 202, and 409 while an install session is running',
      CLIENT,
      'the computers › install dependencies: 202, a 409 while it runs, and then again',
    ),
  ],
  'Endpoint rules': [
    rule(
      'controls are ordered by revision, descending, and led through by `pagination`',
      CLIENT,
      'the controls › are walked to the first revision, though pages are smaller than asked',
      'the controls › go on where a page ended',
    ),
    rule(
      'readiness: `startAfter` is the last `reportId`; the order is not shown',
      CLIENT,
      'the readiness reports › are each walked once to the end, whatever the size of a page',
      'the readiness reports › begin after a report',
    ),
    rule(
      'readiness: `repoId` filters by repository',
      CLIENT,
      'the readiness reports › are those of one repository',
    ),
    rule(
      'readiness reports are on `{app_url}`, everything else on `{base_url}`',
      CLIENT,
      'the readiness reports › are asked of the web application host, and everything else of the API host',
    ),
    rule(
      'PATCH of a session takes the settings that are named, and no token usage',
      CLIENT,
      'the sessions › send every setting that may be changed, and nothing else',
    ),
    rule(
      'a computer is refreshed, restarted and deleted',
      CLIENT,
      'the computers › are refreshed, restarted and deleted',
    ),
    rule(
      'metrics: `start` is the start of the range',
      CLIENT,
      'the computers › have samples from a time on, each exactly as served',
    ),
  ],
  Authentication: [
    rule(
      '1. every request carries `Authorization: Bearer`',
      'test/client/transport.test.ts',
      'the client › sends the credential and both days, and nothing else',
    ),
    rule(
      '2. keys are generated at `{app_url}/settings/api-keys`',
      'test/cli/command.deep.ts',
      'bad usage ends with 2 and one line, and touches nothing › no key: how to get one',
    ),
    rule(
      '3. analytics require Manager or Owner; members and guests receive 403',
      'test/cli/refused-key.deep.ts',
      ...['member', 'guest'].map(
        (role) => `a refused key › of a ${role}: 5, one line about the role, few requests`,
      ),
    ),
    rule(
      '4. a missing or invalid credential is 401',
      'test/client/transport.test.ts',
      'the client › treats a 401 as final for the credential',
    ),
    rule(
      '5. `restrictApiKeyCreationToManagers` limits who creates keys: a setting',
      FIELDS,
      'Enterprise control settings › settings/restrictApiKeyCreationToManagers reaches the client and its setting of dim_control_current',
    ),
  ],
  'Hook events': [
    rule(
      'registered in a settings file: `hooks`, event, groups of commands with a timeout',
      'test/hooks/settings.test.ts',
      'install › writes settings that a person can read',
    ),
    rule(
      'everything else in the settings file stays',
      'test/hooks/settings.test.ts',
      'install and uninstall › keep everything else in the settings, and register the command once for each event',
    ),
    rule(
      'one JSON object on standard input; the command exits 0',
      'test/hooks/run.deep.ts',
      'hooks run › records the object byte for byte, and prints nothing',
    ),
    rule(
      'a failure of a notification command does not block the agent',
      'test/hooks/run.deep.ts',
      'hooks run ends with exit code 0 › when the disk is full from any write on, and leaves no incomplete event',
    ),
  ],
  Errors: [
    rule(
      '400: an invalid date is not even asked',
      ENDPOINTS,
      'dates that analytics refuse › the date "20260114" is refused before any request',
    ),
    rule(
      '400: today is never asked for',
      FIELDS,
      `${DATA} › analytics are asked for from 2026-01-14 to yesterday, and never for today`,
    ),
    rule(
      '500: asked again where that is safe',
      'test/client/repeats.deep.ts',
      'PUT sets a value: twice is once › the global limit › is set again after 500',
    ),
    rule(
      '500: not asked again where it is not',
      'test/client/repeats.deep.ts',
      'restart › after 500 is not repeated: what came of it is not known',
    ),
    rule(
      '`requestId` is on analytics errors only',
      ENDPOINTS,
      'requestId of a Problem is null where the answer has none',
    ),
  ],
  Limits: [
    rule(
      'page size 1 to 100: controls and `/users`',
      BOUNDS,
      ...refused(
        'a page of no revision',
        'a page of 101 revisions',
        'a page of no user',
        'a page of 101 users',
      ),
    ),
    rule(
      'page size by default 20: controls',
      ENDPOINTS,
      'a page of controls is as large as the platform makes it, unless a limit is given',
    ),
    rule(
      'page size by default 20: `/users` are asked for 100',
      FIELDS,
      `${DATA} › users are asked for a hundred a page`,
    ),
    rule(
      'global credit limit: at least 1,000,000',
      BOUNDS,
      ...refused('a global limit below 1,000,000'),
    ),
    rule('users per bulk request: 1 to 100', BOUNDS, ...refused('no user', '101 users')),
    rule(
      'computer name: 1 to 63 characters',
      BOUNDS,
      ...refused('a computer without a name', 'a name of 64 characters'),
    ),
    rule('what is within the bounds is asked', BOUNDS, 'bounds › what is within them is asked'),
    rule(
      'analytics history from 2026-01-14 through yesterday (UTC), available the day after',
      FIELDS,
      `${DATA} › analytics are asked for from 2026-01-14 to yesterday, and never for today`,
    ),
    rule(
      'rate limits: not documented; the client waits as long as the platform asks',
      'test/package/platform-client.test.ts',
      'the client that the package exports › waits as it is told, but not beyond the deadline',
    ),
  ],
  Versioning: [
    rule(
      'properties of `settings` may be added, removed or renamed',
      'test/client/open-answers.test.ts',
      'what the specification does not know passes through › settings, whatever they are called',
    ),
  ],
}
