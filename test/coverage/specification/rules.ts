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
      'the analytics envelope › a response without data is an error, not an empty day',
      'the analytics envelope › a response whose data is not a list is an error, not an empty day',
    ),
    rule(
      '`meta.org_id`',
      FIELDS,
      `${DATA} › every row has the organisation that the responses name`,
    ),
    rule(
      '`meta.start_date`, `meta.end_date`',
      ENDPOINTS,
      'the analytics envelope › a response with another meta.start_date is an error, not an empty day',
      'the analytics envelope › a response with another meta.end_date is an error, not an empty day',
    ),
    rule(
      '`meta.has_more`, `meta.next_cursor`',
      ENDPOINTS,
      'the analytics envelope › meta.has_more and meta.next_cursor control the pagination of users',
      'the analytics envelope › meta.has_more without a cursor is an error, not the end of the users',
    ),
  ],
  'Credit limits': [
    rule(
      'a limit is a whole number of credits, or null: no limit',
      CLIENT,
      'client.limits › setGlobal(null) removes the global limit',
    ),
    rule(
      'a user limit of null removes the individual override; entries that fail are in `errors`',
      CLIENT,
      'client.limits › get(), setGlobal() and setUsers() read and set limits, with an error per failed user',
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
      `${DATA} › spellings of an MCP server are merged into one server, with their invocations summed`,
    ),
    rule(
      'about 0.006 % of tool-name entries contain parsing artifacts',
      FIELDS,
      `${DATA} › a tool name with a parsing artifact is mapped to its tool`,
    ),
    rule(
      'a user on several clients counts once, and appears in each client',
      FIELDS,
      `${DATA} › a user of several clients is counted once overall, and once in each client`,
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
      'client.sessions › interrupt() makes a running session idle, and leaves an idle one as it is',
    ),
    rule(
      'interrupt where it is not enabled: 403',
      CLIENT,
      'client.sessions › interrupt() is refused where it is not enabled',
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
      'client.computers › installDependencies() fails with 409 while an install runs, and works again afterwards',
    ),
  ],
  'Endpoint rules': [
    rule(
      'controls are ordered by revision, descending, and paged by `pagination`',
      CLIENT,
      'client.controls › history() pages to the first revision, although pages are smaller than requested',
      'client.controls › page() continues from a cursor',
    ),
    rule(
      'readiness: `startAfter` is the last `reportId`; the order is not specified',
      CLIENT,
      'client.readiness › reports() yields every report once, whatever the page size',
      'client.readiness › page() starts after a given report',
    ),
    rule(
      'readiness: `repoId` filters by repository',
      CLIENT,
      'client.readiness › reports() can be limited to a repository',
    ),
    rule(
      'readiness reports are on `{app_url}`, everything else on `{base_url}`',
      CLIENT,
      'client.readiness › sends requests to the application host, and all other requests go to the API host',
    ),
    rule(
      'PATCH of a session takes the settings that are named, and no token usage',
      CLIENT,
      'client.sessions › update() sends every setting that can be changed',
    ),
    rule(
      'a computer is refreshed, restarted and deleted',
      CLIENT,
      'client.computers › refresh(), restart() and delete() change a computer',
    ),
    rule(
      'metrics: `start` is the start of the range',
      CLIENT,
      'client.computers › metrics() and fetchMetrics() take a start',
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
      'bad usage › a missing key ("") exits with code 2 and says where to create one',
    ),
    rule(
      '3. analytics require Manager or Owner; members and guests receive 403',
      'test/cli/refused-key.deep.ts',
      ...['member', 'guest'].map(
        (role) =>
          `run with a refused key › exits with code 5 and names the required role after few requests, for a ${role}`,
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
      '400: an invalid date is not sent',
      ENDPOINTS,
      'invalid dates for analytics › the date "20260114" is refused before any request',
    ),
    rule(
      '400: today is never requested',
      FIELDS,
      `${DATA} › analytics are requested from 2026-01-14 to yesterday, and never for today`,
    ),
    rule(
      '500: retried where that is safe',
      'test/client/repeats.deep.ts',
      'a PUT, which is idempotent › the global limit › is sent again after 500',
    ),
    rule(
      '500: not retried where it is not safe',
      'test/client/repeats.deep.ts',
      'restart › is not repeated after 500: its outcome is unknown',
    ),
    rule(
      '`requestId` is on analytics errors only',
      ENDPOINTS,
      'requestId of a Problem is null where the response has none',
    ),
  ],
  Limits: [
    rule(
      'page size 1 to 100: controls and `/users`',
      BOUNDS,
      ...refused(
        'a page of 0 revisions',
        'a page of 101 revisions',
        'a page of 0 users',
        'a page of 101 users',
      ),
    ),
    rule(
      'page size by default 20: controls',
      ENDPOINTS,
      'a page of controls is requested without a limit unless one is given',
    ),
    rule(
      'page size by default 20: `/users` is requested with 100',
      FIELDS,
      `${DATA} › users are requested in pages of 100`,
    ),
    rule(
      'global credit limit: at least 1,000,000',
      BOUNDS,
      ...refused('a global limit below 1,000,000'),
    ),
    rule(
      'users per bulk request: 1 to 100',
      BOUNDS,
      ...refused('limits for no user', 'limits for 101 users'),
    ),
    rule(
      'computer name: 1 to 63 characters',
      BOUNDS,
      ...refused('a computer without a name', 'a name of 64 characters'),
    ),
    rule('values within the bounds are sent', BOUNDS, 'bounds › values within the bounds are sent'),
    rule(
      'analytics history from 2026-01-14 through yesterday (UTC), available the day after',
      FIELDS,
      `${DATA} › analytics are requested from 2026-01-14 to yesterday, and never for today`,
    ),
    rule(
      'rate limits: not documented; the client waits as long as the platform asks',
      'test/package/platform-client.test.ts',
      'the client that the package exports › waits as Retry-After says, but not beyond the deadline',
    ),
  ],
  Versioning: [
    rule(
      'properties of `settings` may be added, removed or renamed',
      'test/client/open-answers.test.ts',
      'a response beyond the specification › may have unknown settings',
    ),
  ],
}
