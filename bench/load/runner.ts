/**
 * The generator as a process of its own: a plan in JSON on standard input; on standard output a line
 * `{"event":"measuring"}` after the warm-up and a line `{"event":"report","report":…}` at the end.
 */
import { text } from 'node:stream/consumers'

import type { LoadPlan } from './load-plan.ts'
import { runLoad } from './load-run.ts'

const plan: LoadPlan = JSON.parse(await text(process.stdin))
const report = await runLoad(plan, {
  measuring: () => process.stdout.write('{"event":"measuring"}\n'),
})
process.stdout.write(`${JSON.stringify({ event: 'report', report })}\n`)
