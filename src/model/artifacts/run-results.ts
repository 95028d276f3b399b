import type { Outcome } from '../build/context.ts'
import type { JsonObject } from './ids.ts'
import type { EntryContext } from './entry-context.ts'
import { idsOf } from './manifest.ts'
import { iso, metadata, type Invocation } from './metadata.ts'
import { relationName } from './model-entry.ts'

/** `run_results.json` (v6): what became of each node, in the order in which that was known. */
export function runResults(
  outcomes: readonly Outcome[],
  context: EntryContext,
  invocation: Invocation,
  select: string | null,
): JsonObject {
  const ids = idsOf(context)
  const idOf = { model: ids.models, check: ids.checks, unit_test: ids.unitTests }
  const { startedAt, finishedAt } = invocation
  return {
    metadata: metadata('run-results/v6', invocation),
    results: outcomes.flatMap((outcome) => {
      const id = idOf[outcome.kind].get(outcome.name)
      return id === undefined ? [] : [resultOf(outcome, id, context)]
    }),
    elapsed_time: (finishedAt - startedAt) / 1000,
    args: { which: 'build', select: select === null ? [] : [select] },
  }
}

function resultOf(outcome: Outcome, id: string, context: EntryContext): JsonObject {
  const { name, status, startedAt, durationMs, message, failures } = outcome
  const node =
    outcome.kind === 'model' ? context.plan.models.find((each) => each.name === name) : undefined
  const span = { started_at: iso(startedAt), completed_at: iso(startedAt + durationMs) }
  return {
    status,
    timing: status === 'skipped' ? [] : [{ name: 'execute', ...span }],
    thread_id: 'main',
    execution_time: durationMs / 1000,
    adapter_response: {},
    message,
    failures,
    unique_id: id,
    compiled: node !== undefined,
    compiled_code: node?.sql ?? null,
    relation_name: node === undefined ? null : relationName(node, context),
  }
}
