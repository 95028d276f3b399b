/**
 * The threads of a command: one where the suite sets it, because three files run at once. On few
 * rows a second thread costs a third more CPU time and saves none.
 */
export const MACHINE: Readonly<Record<string, string>> = threadsOf(
  process.env['AGENT_WAREHOUSE_THREADS'],
)

function threadsOf(threads: string | undefined): Record<string, string> {
  return threads === undefined ? {} : { AGENT_WAREHOUSE_THREADS: threads }
}
