import { parseArgs } from 'node:util'

import { columns } from '#bench/load/load-table.ts'
import { median, quantile } from '#bench/median.ts'
import { superiority } from '#bench/superiority.ts'

import { type Asking, GROUPS, type Group, WHO, type Who, settle } from './enumeration/groups.ts'
import { Site } from './enumeration/site.ts'

const USAGE = `node test/load/enumeration.ts [--samples N] [--only WORDS]

Asks a fresh installation about addresses with and without an account, in turns, and says whether the time of an answer distinguishes them. Nothing else should run on the machine. Exit code 1 when it does.`

/** Samples about one address: fewer than are counted as guesses. */
const ASKED_ABOUT_ONE = 4
/** Of an AUC: a stranger may do so much better than by throwing a coin. */
const TOLERATED = 0.03
const HEADINGS = [
  'question',
  'about',
  'samples',
  'p10 ms',
  'median',
  'p90',
  'AUC',
  '95 %',
  '',
] as const

/** One question about one kind of address. */
interface Case {
  readonly group: Group
  readonly who: Who
  readonly people: readonly Asking[]
  readonly ms: number[]
}

async function main(samples: number, only: string): Promise<boolean> {
  await using site = await Site.open()
  const cases: Case[] = []
  for (const group of GROUPS.filter(({ name }) => name.includes(only))) {
    for (const who of ['nobody', ...group.who] as const) {
      progress(`${group.name}: ${who}`)
      cases.push({ group, who, people: await peopleOf(site, { group, who, samples }), ms: [] })
    }
  }
  progress('warming up')
  for (const each of cases) await ask(site, each, 0)
  for (const each of cases) each.ms.length = 0
  for (let round = 0; round < samples; round += 1) {
    if (round % 20 === 0) progress(`round ${round} of ${samples}`)
    for (const each of shuffled(cases)) await ask(site, each, round)
  }
  const rows = cases.map((each) => rowOf(each, cases))
  console.log(columns([[...HEADINGS], ...rows.map(({ cells }) => cells)]))
  return rows.every(({ alike }) => alike)
}

/** Each question and kind has addresses of its own, so that none meets what another has left behind. */
async function peopleOf(
  site: Site,
  { group, who, samples }: { group: Group; who: Who; samples: number },
): Promise<readonly Asking[]> {
  const people: Asking[] = []
  const count = Math.ceil(samples / ASKED_ABOUT_ONE)
  const place = `${GROUPS.indexOf(group)}${WHO.indexOf(who)}`.padStart(3, '0')
  for (let at = 0; at < count; at += 1) {
    const email = `p${place}-${String(at).padStart(4, '0')}@mail.test`
    await settle(site, who, email)
    people.push(await group.prepare(site, email, who))
  }
  return people
}

async function ask(site: Site, { group, people, who, ms }: Case, round: number): Promise<void> {
  const asking = people[round % people.length]
  if (!asking) throw new Error('There is no address to ask about')
  const { status, text, ms: took } = await site.send(await asking())
  if (status !== group.status) {
    throw new Error(`"${group.name}" about ${who} was answered ${status}: ${text.slice(0, 500)}`)
  }
  ms.push(took)
}

function rowOf(each: Case, cases: readonly Case[]): { cells: string[]; alike: boolean } {
  const { group, who, ms } = each
  const base = cases.find((other) => other.group === group && other.who === 'nobody')
  const figures = [quantile(ms, 0.1), median(ms), quantile(ms, 0.9)].map((value) =>
    value.toFixed(2),
  )
  const cells = [group.name, who, String(ms.length), ...figures]
  if (!base || base === each) return { cells: [...cells, '', '', ''], alike: true }
  const { probability, low, high } = superiority(ms, base.ms)
  const isApart = low > 0.5 + TOLERATED || high < 0.5 - TOLERATED
  const interval = `${low.toFixed(2)}–${high.toFixed(2)}`
  return {
    cells: [...cells, probability.toFixed(2), interval, isApart ? 'DISTINGUISHABLE' : ''],
    alike: isApart === (group.isControl ?? false),
  }
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

const progress = (words: string): void => void process.stderr.write(`${words}\n`)

const { values } = parseArgs({
  options: {
    samples: { type: 'string', default: '200' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else process.exitCode = (await main(Number(values.samples), values.only)) ? 0 : 1
