// Tools and MCP servers, whatever their spelling.
import { count, left, sum, unique } from './reading.mjs'
import { added, key, UNATTRIBUTED, rowsOf, today } from './served.mjs'

/** A name; or, of what the platform's parser left behind, the name in quotes, where there is such a tool. */
export function toolName(spelling) {
  const isName = (text) => /^[A-Za-z_][\w.:/@-]*$/.test(text)
  if (isName(spelling)) return spelling
  const bare = spelling.replaceAll('"', '')
  return isName(bare) && spellings().includes(bare) ? bare : '(unparsed)'
}

export function spellings() {
  const nested = today.tools.flatMap((row) => (row.by_tool ?? []).map(({ tool }) => tool))
  return unique([...nested, ...today.tools_by_name.map(({ group_key }) => group_key)])
}

export function toolDays(day) {
  const [header] = rowsOf('tools', day)
  const nested = (header?.by_tool ?? []).map(({ tool, invocations }) => [tool, invocations])
  const grouped = rowsOf('tools_by_name', day).map((row) => [row.group_key, row.tool_calls])
  const parts = (nested.length > 0 ? nested : grouped).map(([tool, invocations]) => ({
    tool_name: toolName(tool),
    invocations: count(invocations),
  }))
  const rest = left(
    count(header?.tool_calls),
    parts.map(({ invocations }) => invocations),
  )
  const all = rest > 0n ? [...parts, { tool_name: UNATTRIBUTED, invocations: rest }] : parts
  return added(all, ['tool_name'], ['invocations']).map((row) => ({ ...key(day), ...row }))
}

export function unparsedOf(day) {
  const parts = toolDays(day).filter(({ tool_name }) => tool_name !== UNATTRIBUTED)
  const unparsed = parts.filter(({ tool_name }) => tool_name === '(unparsed)')
  return [unparsed, parts].map((rows) => sum(rows.map(({ invocations }) => invocations)) ?? 0n)
}

export function canonical(server) {
  return server.normalize('NFC').trim().toLowerCase()
}
