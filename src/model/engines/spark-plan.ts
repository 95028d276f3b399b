import type { BuildPlan, NodePlan } from '../build/plan.ts'
import type { PlannedCheck } from '../checks/plan.ts'
import { reach } from '../project/select.ts'
import { kindOf, type ModelNode } from '../project/types.ts'

/** The parts of a build that run on Spark and on DuckDB. */
export interface SparkPlan {
  /** The models that DuckDB makes: inputs of the others, and reused ones. */
  readonly here: readonly NodePlan[]
  /** The models that Spark makes: all created or updated ones that are no inputs. */
  readonly due: readonly NodePlan[]
  /** All views and tables that Spark makes: those that are due, and the views that these read. */
  readonly nodes: readonly ModelNode[]
  /** Tables that Spark reads and does not make. */
  readonly given: readonly ModelNode[]
  /** The checks that read all rows of models made by Spark. DuckDB runs the others. */
  readonly checks: readonly PlannedCheck[]
}

/** Divides the plan. If nothing is due, Spark is not started. */
export function planSpark({ all, nodes, checks }: BuildPlan): SparkPlan {
  const inputs = inputsOf(all)
  const isHere = ({ node, action }: NodePlan): boolean =>
    action === 'reuse' || inputs.has(node.name)
  const due = nodes.filter((each) => !isHere(each))
  const made = new Set(due.map(({ node }) => node.name))
  const isGiven = (node: ModelNode): boolean => !made.has(node.name) && kindOf(node) === 'table'
  const tables = new Set(all.filter(isGiven).map(({ name }) => name))
  const counted = checks.filter(
    ({ scope, reads }) =>
      made.size > 0 && scope === 'all' && reads.some((name) => !tables.has(name)),
  )
  const edges = new Map(all.map((node) => [node.name, isGiven(node) ? [] : node.dependsOn]))
  const read = new Set([...made, ...counted.flatMap(({ reads }) => reads)])
  for (const name of reach([...read], edges)) read.add(name)
  const present = all.filter(({ name }) => read.has(name))
  return {
    here: nodes.filter(isHere),
    due,
    nodes: present.filter((node) => !isGiven(node)),
    given: present.filter(isGiven),
    checks: counted,
  }
}

/**
 * The names of seeds, of snapshots and the models that they read, and of models that decide which
 * intervals of incremental models are outdated.
 */
function inputsOf(models: readonly ModelNode[]): ReadonlySet<string> {
  const edges = new Map(models.map(({ name, dependsOn }) => [name, dependsOn]))
  const own = models.filter(({ seed, snapshot }) => seed !== null || snapshot !== null)
  const names = [...own.map(({ name }) => name), ...models.flatMap(({ hookReads }) => hookReads)]
  return new Set([...names, ...reach(names, edges)])
}
