import { parseArgs } from 'node:util'

import { median } from '#bench/median.ts'
import { closedLoop } from '#bench/tables/closed-loop.ts'

import { type WriteSite, startWriteSite } from './write-site.ts'

/**
 * Writes of one site by its admin's routes: small objects into a bucket (file store), and items into a table beside them.
 * `--beside DIR` measures another checkout in the same rounds.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    beside: { type: 'string' },
  },
})
const CALLERS = [1, 16] as const
const WRITES = ['object', 'overwrite', 'item'] as const
const roundMs = Number(values.seconds) * 1000

await using running = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void running.disposeAsync().finally(() => process.exit(130)))
}
const sites: WriteSite[] = [running.use(await startWriteSite('this checkout'))]
if (values.beside !== undefined) {
  sites.push(running.use(await startWriteSite('beside', values.beside)))
}
const rates = new Map<string, number[]>()
const cpu = new Map<string, number[]>()
for (let round = 0; round <= Number(values.rounds); round++) {
  for (const site of sites) {
    for (const callers of CALLERS) {
      for (const write of WRITES) {
        const { perSecond, cpuUsPerCall } = await closedLoop(site[write], callers, roundMs)
        const name = `${site.name}, ${callers} callers, ${write}`
        // The first round warms up.
        if (round === 0) continue
        rates.set(name, [...(rates.get(name) ?? []), perSecond])
        cpu.set(name, [...(cpu.get(name) ?? []), cpuUsPerCall])
      }
    }
  }
}
for (const [name, each] of rates) {
  const range = `${Math.round(Math.min(...each))}–${Math.round(Math.max(...each))}`
  const cpuUs = Math.round(median(cpu.get(name) ?? []))
  console.log(
    `${name.padEnd(44)}${Math.round(median(each))} writes/s (${range}), ${cpuUs} µs of CPU each`,
  )
}
