import fc from 'fast-check'
import { getNodeValue } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import { diffLines } from '../../src/hooks/settings-file.ts'
import { DEFAULT_EVENTS, HOOK_EVENTS } from '../../src/hooks/event.ts'
import { JsonSyntaxError, parseJsonTree } from '../../src/hooks/json-edit.ts'
import {
  commandLine,
  install,
  readCommandLine,
  registeredIn,
  uninstall,
  type HookCommand,
} from '../../src/hooks/settings.ts'

const COMMAND: HookCommand = {
  node: '/usr/bin/node',
  script: '/opt/agent warehouse/dist/cli/main.js',
  dataFolder: "/home/o'neil/data",
  config: '/etc/agent-warehouse.yaml',
}
const LINE = commandLine(COMMAND, 'posix')

const blanks = fc.constantFrom('', ' ', '\n', '\n  ', '\r\n\t', '  \n')

/** JSON text in any spelling, as people and other tools write it. */
function spelt(value: fc.JsonValue, gaps: () => string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = Array.isArray(value)
    ? value.map((item) => spelt(item, gaps))
    : Object.entries(value).map(
        ([key, item]) => `${JSON.stringify(key)}${gaps()}:${gaps()}${spelt(item ?? null, gaps)}`,
      )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const all = inner.map((item) => gaps() + item + gaps()).join(',')
  return `${open ?? ''}${inner.length === 0 ? gaps() : all}${close ?? ''}`
}

const group = fc.record(
  {
    matcher: fc.string(),
    hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() }), {
      maxLength: 2,
    }),
  },
  { requiredKeys: ['hooks'] },
)
const eventGroups = fc.array(group, { maxLength: 2 })
const hooks = fc.dictionary(fc.constantFrom(...HOOK_EVENTS, 'ToolBegins'), eventGroups, {
  maxKeys: 4,
})
const settings = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), fc.option(hooks), fc.nat(4))
  .map(([others, own, at]) => {
    const entries = Object.entries(others).filter(([key]) => key !== 'hooks' && key !== '__proto__')
    if (own !== null) entries.splice(at, 0, ['hooks', own])
    return Object.fromEntries(entries)
  })

const settingsText = fc.oneof(
  settings.map((value) => JSON.stringify(value)),
  fc
    .tuple(settings, fc.constantFrom<string | number>(2, 4, '\t'), fc.constantFrom('', '\n'))
    .map(([value, indent, end]) => JSON.stringify(value, null, indent) + end),
  settings.map((value) => JSON.stringify(value, null, 2).replaceAll('\n', '\r\n')),
  fc.tuple(settings, fc.infiniteStream(blanks)).map(([value, stream]) =>
    spelt(value, () => {
      const next = stream.next()
      return next.done === true ? '' : next.value
    }),
  ),
)

const events = fc.uniqueArray(fc.constantFrom(...HOOK_EVENTS), { minLength: 1 })

describe('install and uninstall', () => {
  it('leave the settings as they were, byte for byte', () => {
    fc.assert(
      fc.property(settingsText, events, (text, names) => {
        const { text: installed, created } = install(text, names, LINE)
        expect(uninstall(installed, created).text).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  it('keep everything else in the settings, and register the command once for each event', () => {
    fc.assert(
      fc.property(settingsText, events, (text, names) => {
        const installed = install(text, names, LINE)
        expect(
          registeredIn(installed.text)
            .map(({ event }) => event)
            .sort(),
        ).toEqual([...names].sort())
        const before = JSON.parse(text) as Record<string, Record<string, unknown[]>>
        const after = JSON.parse(installed.text) as typeof before
        const { hooks: hooksBefore = {}, ...othersBefore } = before
        const { hooks: hooksAfter = {}, ...othersAfter } = after
        expect(othersAfter).toEqual(othersBefore)
        for (const event of new Set([...Object.keys(hooksBefore), ...names])) {
          const groups = hooksBefore[event] ?? []
          const isOurs = names.some((name) => name === event)
          expect(hooksAfter[event]?.slice(0, groups.length)).toEqual(groups)
          expect(hooksAfter[event]).toHaveLength(groups.length + (isOurs ? 1 : 0))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('change nothing the second time', () => {
    fc.assert(
      fc.property(settingsText, events, (text, names) => {
        const once = install(text, names, LINE).text
        const twice = install(once, names, LINE)
        expect(twice.text).toBe(once)
        expect(new Set(Object.values(twice.changes))).toEqual(new Set(['unchanged']))
      }),
    )
  })
})

describe('install', () => {
  it('writes settings that a person can read', () => {
    const text = install('{\n  "model": "m"\n}\n', ['Stop'], 'C').text
    expect(text).toBe(`{
  "model": "m",
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "C",
            "timeout": 15
          }
        ]
      }
    ]
  }
}
`)
  })

  it('updates the command of an earlier installation, and removes duplicates', () => {
    const old = commandLine({ ...COMMAND, node: '/usr/bin/node18' }, 'posix')
    const once = install('{}', DEFAULT_EVENTS, old).text
    const twice = once.replace(
      /\[\s*\{\s*"hooks"/,
      (found) =>
        `[${found.slice(1)}: [${JSON.stringify({ type: 'command', command: old })}]}, {"hooks"`,
    )
    expect(registeredIn(twice)).toHaveLength(5)
    const { text, changes, created } = install(twice, DEFAULT_EVENTS, LINE)
    expect(registeredIn(text)).toEqual(DEFAULT_EVENTS.map((event) => ({ event, command: LINE })))
    expect(new Set(Object.values(changes))).toEqual(new Set(['updated']))
    expect(created).toEqual([])
  })

  it('does not change a command that only resembles ours', () => {
    const others = [
      'node main.js hooks run',
      `${LINE} --verbose`,
      `${LINE}; rm -rf /`,
      `sh -c "${LINE}"`,
      'say hooks run --data x --config y',
    ]
    const hooks = others.map((command) => ({ type: 'command', command }))
    const text = JSON.stringify({ hooks: { Stop: [{ hooks }] } })
    expect(registeredIn(text)).toEqual([])
    const installed = install(text, ['Stop'], LINE)
    expect(uninstall(installed.text, installed.created)).toEqual({ text, removed: ['Stop'] })
  })
})

describe('uninstall', () => {
  it('removes our command from a shared group, and leaves the group', () => {
    const other = { type: 'command', command: 'beep' }
    const ours = { type: 'command', command: LINE }
    const text = JSON.stringify({ hooks: { Stop: [{ matcher: '*', hooks: [ours, other] }] } })
    const after: unknown = JSON.parse(uninstall(text, null).text)
    expect(after).toEqual({ hooks: { Stop: [{ matcher: '*', hooks: [other] }] } })
  })

  it('removes empty lists and objects when it is not recorded who created them', () => {
    const { text } = install('{"a": 1}', ['Stop', 'SessionEnd'], LINE)
    expect(uninstall(text, null).text).toBe('{"a": 1}')
  })

  it('changes nothing when our command is not registered', () => {
    const text = '{ "hooks" : { "Stop" : [ ] } }'
    expect(uninstall(text, null)).toEqual({ text, removed: [] })
  })
})

describe('broken settings', () => {
  it.each([
    ['', 1, 1],
    ['{', 1, 2],
    ['{"a": 1,}', 1, 9],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ['{"a": [1, 2}', 1, 12],
    ['{"a": 01}', 1, 8],
    ['{"a": "x\ty"}', 1, 7],
    ['{"a": "\\q"}', 1, 7],
    ["{'a': 1}", 1, 2],
    ['{"a": 1} // done', 1, 10],
    ['{"a": NaN}', 1, 7],
    ['\uFEFF{"a"\n:', 2, 2],
    ['[]', 1, 1],
    ['"text"', 1, 1],
    ['{"hooks": []}', 1, 11],
    ['{"hooks": {\n "Stop": {}}}', 2, 10],
    ['['.repeat(600) + ']'.repeat(600), 1, 1],
  ])('are refused with line and column: %j', (text, line, column) => {
    const broken = (): unknown => install(text, ['Stop'], LINE)
    expect(broken).toThrow(JsonSyntaxError)
    expect(broken).toThrow(expect.objectContaining({ line, column }))
  })

  it('are those that JSON.parse refuses, and all others are read as it reads them', () => {
    fc.assert(
      fc.property(fc.oneof(settingsText, fc.string(), fc.json()), fc.nat(), (text, cut) => {
        for (const each of [text, text.slice(0, cut % (text.length + 1))]) {
          let expected: unknown
          try {
            expected = JSON.parse(each)
          } catch {
            expect(() => parseJsonTree(each)).toThrow(JsonSyntaxError)
            continue
          }
          expect(JSON.stringify(getNodeValue(parseJsonTree(each)))).toBe(JSON.stringify(expected))
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the command line', () => {
  const path = fc
    .string({ minLength: 1, unit: 'grapheme' })
    .map((name) => `/${name.replaceAll('\0', '')}`)

  it('can be read back, whatever the paths are', () => {
    fc.assert(
      fc.property(path, path, path, (node, dataFolder, config) => {
        const command = { node, script: '/x y/main.js', dataFolder, config }
        expect(readCommandLine(commandLine(command, 'posix'))).toEqual(command)
      }),
    )
  })

  it('quotes every path on Windows', () => {
    const command = {
      node: 'C:\\Program Files\\nodejs\\node.exe',
      script: 'C:\\a\\main.js',
      dataFolder: 'D:\\data',
      config: 'D:\\c.yaml',
    }
    const line = commandLine(command, 'windows')
    expect(line).toBe(
      String.raw`"C:\Program Files\nodejs\node.exe" "C:\a\main.js" "hooks" "run" "--data" "D:\data" "--config" "D:\c.yaml"`,
    )
    expect(readCommandLine(line)).toEqual(command)
  })
})

describe('the diff', () => {
  it('has as many more added than removed lines as the text grows', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 8 })
      .map((lines) => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after)
        const [gone, come] = ['-', '+'].map(
          (sign) => lines.filter((line) => line.startsWith(sign)).length,
        )
        expect((come ?? 0) - (gone ?? 0)).toBe(after.split('\n').length - before.split('\n').length)
        expect(lines.length > 0).toBe(before !== after)
      }),
    )
  })

  it('shows removed and added lines with the lines around them', () => {
    const before = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].join('\n')
    const after = ['1', '2', '3', '4', 'five', '6', '7', '8', '9', '10'].join('\n')
    expect(diffLines(before, after)).toEqual([
      '  …',
      '  3',
      '  4',
      '- 5',
      '+ five',
      '  6',
      '  7',
      '  8',
      '  9',
      '+ 10',
    ])
  })
})
