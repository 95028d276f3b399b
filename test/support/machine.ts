/**
 * What a command takes of the machine: one thread, where the suite says so because three files
 * run at once. On few rows a second thread costs a third more CPU time and saves none.
 */
export const MACHINE: Readonly<Record<string, string>> = threadsOf(
  process.env['AGENT_WAREHOUSE_THREADS'],
)

function threadsOf(threads: string | undefined): Record<string, string> {
  return threads === undefined ? {} : { AGENT_WAREHOUSE_THREADS: threads }
}
