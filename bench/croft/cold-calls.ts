import { setTimeout as pause } from 'node:timers/promises'

import { waitUntil } from '#bench/wait-until.ts'

import type { CroftProcess } from './croft-process.ts'
import { CroftSite } from './croft-site.ts'

const OPERATION = 'build'
/** Lets the news of a revision reach the process that serves it. */
const SETTLE_MS = 30

/** The first call after each of so many publishes, and the call after it, in milliseconds. */
export interface ColdCalls {
  readonly firstMs: readonly number[]
  readonly secondMs: readonly number[]
}

/** Changes a site's function again and again; each time the next call meets code that no isolate has run. */
export async function measureColdCalls(croft: CroftProcess, publishes: number): Promise<ColdCalls> {
  const site = await CroftSite.create(croft, 'cold.test')
  const resourceId = await site.createFunction('build', codeOf(0))
  await site.createOperation(OPERATION, resourceId, 0)
  await firstCallMs(site, 0)

  const [firstMs, secondMs]: [number[], number[]] = [[], []]
  for (let build = 1; build <= publishes; build += 1) {
    await site.changeFunction(resourceId, codeOf(build))
    firstMs.push(await firstCallMs(site, build))
    secondMs.push((await site.call(OPERATION, {})).ms)
  }
  return { firstMs, secondMs }
}

/** The call that is answered by the new code: one that still met the old revision is not it. */
async function firstCallMs(site: CroftSite, build: number): Promise<number> {
  let ms = 0
  await site.synced()
  await pause(SETTLE_MS)
  await waitUntil(`answer of build ${build}`, async () => {
    const answer = await site.call(OPERATION, {})
    ms = answer.ms
    if (answer.status !== 200 && answer.status !== 503) {
      throw new Error(`build ${build} answered ${answer.status}: ${answer.text}`)
    }
    return answer.status === 200 && answer.text.includes(`"build":${build}}`)
  })
  return ms
}

const codeOf = (build: number): string => `export default () => ({ build: ${build} })\n`
