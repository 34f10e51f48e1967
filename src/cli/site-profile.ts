import { readFile, writeFile } from 'node:fs/promises'

import { CpuProfile } from '#runtime/profiles/cpu-profile.ts'

import { columns, printable } from './columns.ts'
import { type Arguments, type CliCommand, textOption } from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'

const TIMEOUT_MS = 120_000
/** Functions that the table shows. */
const SHOWN = 10

export const siteProfile: CliCommand = {
  name: 'site profile',
  summary: 'Profile an operation, and write the profile for Chrome DevTools',
  words: ['DOMAIN'],
  options: [
    textOption('--operation <name>', 'which one (required); it runs with the rights of the site'),
    textOption('--input <json>', 'its payload as JSON, or @FILE'),
    textOption('--calls <number>', 'how many, one after the other (1)'),
    textOption('--seconds <number>', 'after which no further call begins (10)'),
    textOption('--out <file>', 'where the profile goes (OPERATION.cpuprofile)'),
  ],
  async run({ args, service }) {
    const operation = args.required('operation')
    const out = args.text('out') ?? `${operation}.cpuprofile`
    const path = sitePath(args.word, `/operations/${encodeURIComponent(operation)}/profile`)
    const body = {
      ...(await payloadOf(args)),
      ...numberOf(args, 'calls'),
      ...numberOf(args, 'seconds'),
    }
    const profile = await service.portalAs(CpuProfile, 'POST', path, {
      body,
      timeoutMs: TIMEOUT_MS,
    })
    await writeFile(out, JSON.stringify(profile))
    const { samples } = profile
    const rows = busiest(profile).map(({ share, name, place }) =>
      [share, name, place].map(printable),
    )
    return {
      json: { out, samples: samples.length },
      text: `${columns(rows)}\n${samples.length} samples in ${out}: open it in Chrome DevTools, Performance, Load profile`,
    }
  },
}

async function payloadOf(args: Arguments): Promise<{ payload?: unknown }> {
  const text = args.text('input')
  if (text === undefined) return {}
  const json = text.startsWith('@') ? await fileText(text.slice(1)) : text
  try {
    return { payload: JSON.parse(json) }
  } catch {
    throw new UsageError('--input is not JSON')
  }
}

const fileText = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CommandError(
      `"${file}" cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
  })

function numberOf(args: Arguments, name: 'calls' | 'seconds'): Record<string, number> {
  const text = args.text(name)
  if (text === undefined) return {}
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError(`--${name} is no whole number from 1`)
  return { [name]: Number(text) }
}

/** The functions in which most time was spent themselves. */
function busiest({ nodes, samples }: CpuProfile) {
  const idle = nodes.find(({ callFrame }) => callFrame.functionName === '(idle)')?.hitCount ?? 0
  const all = Math.max(1, samples.length - idle)
  const hits = new Map<string, { name: string; place: string; hits: number }>()
  for (const { callFrame, hitCount } of nodes) {
    const { functionName, url, lineNumber } = callFrame
    if (hitCount === 0 || functionName === '(idle)') continue
    const place = url === '' ? '' : `${url}:${lineNumber + 1}`
    const name = functionName === '' ? '(anonymous)' : functionName
    const one = hits.get(`${name} ${place}`) ?? { name, place, hits: 0 }
    one.hits += hitCount
    hits.set(`${name} ${place}`, one)
  }
  return [...hits.values()]
    .toSorted((a, b) => b.hits - a.hits)
    .slice(0, SHOWN)
    .map((one) => ({ ...one, share: `${((one.hits / all) * 100).toFixed(1)} %` }))
}
