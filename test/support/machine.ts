/**
 * The threads of a command, and of a pipeline in a test's own process: one where the suite sets it,
 * because three files run at once. On few rows a second thread costs a third more CPU time and saves
 * none. Undefined: all of the machine.
 */
export const THREADS = process.env['AGENT_WAREHOUSE_THREADS']

/** The environment of a command. */
export const MACHINE: Readonly<Record<string, string>> =
  THREADS === undefined ? {} : { AGENT_WAREHOUSE_THREADS: THREADS }
