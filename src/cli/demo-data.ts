import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { addDays, dayOf, HISTORY_START, startOf, type Day } from '../lib/days.ts'
import {
  landmarkOf,
  type Emulator,
  type Intercept,
  type PlantedAnomaly,
} from '../emulator/emulator.ts'
import { hookFolders, spoolEvent } from '../hooks/record.ts'
import { writeAtomic } from '../lib/files.ts'

const MS_PER_MINUTE = 60_000

/**
 * Writes the data that an organisation adds itself: teams, licences, events, the sessions
 * and messages to fetch, and hook events of a few sessions. No mart of the demo is empty.
 */
export async function writeDemoData(
  dataFolder: string,
  emulator: Emulator,
  now: number,
): Promise<void> {
  await mkdir(join(dataFolder, 'seeds'), { recursive: true })
  const sessions = emulator.sessionIds()
  const messages = sessions.flatMap((session) =>
    emulator.messageIds(session).map((message) => `${session},${message}`),
  )
  const files = {
    teams: ['user,team,cost_centre,valid_from', ...teamLines(emulator)],
    licences: ['valid_from,team,seats,monthly_price,currency', ...licenceLines(emulator)],
    events: [
      'event_date,name,description,team',
      `${landmarkOf(HISTORY_START, 'modelLaunch')},New model,atlas-3-thinking is available,`,
      `${landmarkOf(HISTORY_START, 'companyHoliday')},Company holiday,,`,
    ],
    sessions: ['session_id', ...sessions],
    messages: ['session_id,message_id', ...messages],
  }
  for (const [name, lines] of Object.entries(files)) {
    await writeAtomic(join(dataFolder, 'seeds', `${name}.csv`), `${lines.join('\n')}\n`)
  }
  await recordHooks(dataFolder, sessions, now)
}

/** A user without an address is named by the id. One person moves to another team. */
function teamLines({ members }: Emulator): string[] {
  const [first] = members
  const lines = members.map(
    ({ userId, email, team }) => `${email ?? userId},${team},cc-${team},${HISTORY_START}`,
  )
  return first === undefined ? lines : [...lines, `${first.userId},platform,cc-platform,2026-06-15`]
}

function licenceLines({ members }: Emulator): string[] {
  const teams = [...new Set(members.map(({ team }) => team))].sort()
  return teams.map((team) => {
    const seats = members.filter((member) => member.team === team).length + 2
    return `${HISTORY_START},${team},${seats},39,EUR`
  })
}

async function recordHooks(
  dataFolder: string,
  sessions: readonly string[],
  now: number,
): Promise<void> {
  const folders = hookFolders(dataFolder)
  for (const [index, session_id] of sessions.entries()) {
    const isFailure = index % 4 === 3
    const inputs = [
      { hook_event_name: 'Notification', message: 'The agent waits for your input' },
      { hook_event_name: 'Stop' },
      { hook_event_name: 'SessionEnd', reason: isFailure ? 'error' : 'prompt_input_exit' },
    ]
    for (const [step, input] of inputs.entries()) {
      const number = String(index * inputs.length + step).padStart(12, '0')
      await spoolEvent(folders, {
        eventId: `00000000-0000-4000-8000-${number}`,
        recordedAt: now - (sessions.length - index) * MS_PER_MINUTE + step * 1000,
        input: JSON.stringify({ ...input, session_id, cwd: '/home/dev/project' }),
      })
    }
  }
}

/** Ada Abara, who works every day and is in an organisation of any size. */
const ADA = 'user_38fa7932b19fea7c'

/**
 * What the report finds unusual: an agent of Ada's that runs in a loop on the last Tuesday and
 * Thursday before `today`'s week, and a Wednesday the week before on which hardly anything runs.
 */
export function demoAnomalies(today: Day): PlantedAnomaly[] {
  const monday = addDays(today, -((weekdayOf(today) + 6) % 7))
  return [
    { userId: ADA, day: addDays(monday, -6), factor: 500 },
    { userId: ADA, day: addDays(monday, -4), factor: 500 },
    { day: addDays(monday, -12), factor: 0.02 },
  ]
}

/** Restates an earlier day from `moment` on: it has one more web user. */
export function restateFrom(moment: number, now: () => number): Intercept {
  const day = restatedDay(dayOf(moment))
  const users = new RegExp(`("date":"${day}".*?"web_users":)(\\d+)`, 's')
  return async ({ path, answer }) => {
    if (!path.endsWith('/analytics/tools') || now() < moment) return undefined
    const response = await answer()
    const text = await response.text()
    const restated = text.replace(
      users,
      (_, before: string, count: string) => `${before}${Number(count) + 1}`,
    )
    return new Response(restated, response)
  }
}

/** Ages in days of the days that the second night rechecks. */
const AGES = [2, 3, 7]

/** The latest of these days that is not on a weekend, when a small organisation has no users. */
export function restatedDay(today: Day): Day {
  const days = AGES.map((age) => addDays(today, -age))
  const isWorkingDay = (day: Day): boolean => weekdayOf(day) % 6 !== 0
  return days.find(isWorkingDay) ?? addDays(today, -2)
}

/** 0 is Sunday. */
function weekdayOf(day: Day): number {
  return new Date(startOf(day)).getUTCDay()
}
