import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { sendJson, temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { syncFrom } from './platform.ts'

const TODAY = Date.parse('2026-01-17T06:00:00Z')

/** A platform without rows, of an organisation of that id. */
function platformOf(id: string) {
  return testServer((_, response) => {
    const date = new Date(TODAY).toUTCString()
    sendJson(response, 200, { data: [], meta: { org_id: id } }, { date })
  })
}

describe('the id of an organisation', () => {
  it.each([
    ['a NUL character', 'a\0b'],
    ['300 bytes', 'x'.repeat(300)],
    ['201 bytes', 'x'.repeat(201)],
    ['more than 200 bytes when encoded', 'é'.repeat(60)],
    ['an escape', 'a\u001b[31mb'],
    ['a line break', 'a\nb'],
    ['a text direction mark', 'a\u202eb'],
    ['half a surrogate pair', 'a\ud800'],
    ['nothing but spaces', '  '],
  ])('is refused in the first response when it has %s', async (_, id) => {
    const data = await temporaryFolder()
    const { url, requests } = await platformOf(id)
    const { result } = await syncFrom(url, data, { world: testWorld(TODAY) })
    expect(result).toMatchObject({ orgId: null, stoppedBy: { exitCode: 2 } })
    expect(result.stoppedBy?.message).toMatch(/^[\x20-\x7e]+$/)
    expect(requests).toHaveLength(1)
    expect(await readdir(data)).toEqual([])
  })

  it.each(['x'.repeat(200), 'org/1 é %?*[a]\\', 'Ω', '組織'])('is accepted: %s', async (id) => {
    const data = await temporaryFolder()
    const { url } = await platformOf(id)
    const { result } = await syncFrom(url, data, { only: ['tokens'], world: testWorld(TODAY) })
    expect(result).toMatchObject({ orgId: id, landed: 3, stoppedBy: null })
  })
})
