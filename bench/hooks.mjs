// The time that the agent waits for `hooks run`, from start to exit, alternating with an empty
// script, which measures Node.js itself.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { median, report, root, tell, withFolder } from './lib.mjs'

const TURNS = 21
const MAIN = join(root, 'dist', 'cli', 'main.js')
const INPUT = JSON.stringify({
  hook_event_name: 'Stop',
  session_id: 'b7b1a1de-6a9c-4d0e-9d4b-3f3a2f5d7c11',
  cwd: '/work/project',
  message: 'done',
})

await withFolder(async (folder) => {
  const nothing = join(folder, 'nothing.mjs')
  const config = join(folder, 'agent-warehouse.yaml')
  await writeFile(nothing, '')
  await writeFile(config, 'hooks: {}\n')
  const hook = ['hooks', 'run', '--data', folder]
  const times = { node: [], record: [], handOver: [] }
  tell(`${TURNS} turns`)
  for (let turn = 0; turn < TURNS; turn += 1) {
    times.node.push(milliseconds([nothing]))
    times.record.push(milliseconds([MAIN, ...hook, '--config', join(folder, 'none.yaml')]))
    times.handOver.push(milliseconds([MAIN, ...hook, '--config', config]))
    await noSender(join(folder, 'state', 'hooks'))
  }
  const [node, record, handOver] = Object.values(times).map(median)
  report([
    { name: 'Node.js itself, start to exit', value: node, unit: 'ms' },
    { name: 'hooks run, event recorded', value: record, unit: 'ms', most: 150 },
    { name: 'hooks run, and a sender started', value: handOver, unit: 'ms', most: 150 },
    { name: 'hooks run as a multiple of Node.js itself', value: record / node, unit: '×', most: 2 },
  ])
})

function milliseconds(args) {
  const began = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { input: INPUT })
  if (status !== 0) throw new Error(`it ended with ${status}: ${stderr}`)
  return performance.now() - began
}

/** The next turn must not share the machine with a sender. */
async function noSender(hooks) {
  const isBusy = () =>
    existsSync(join(hooks, 'sender.lock')) || readdirSync(join(hooks, 'inbox')).length > 0
  while (isBusy()) await delay(20)
}
