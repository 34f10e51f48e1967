import { setTimeout as delay } from 'node:timers/promises'

import { type Neighbour, Outcomes } from './neighbour.ts'
import { SoakSite } from './site.ts'

const EVERY_MS = 1000
const LINES = 5000

/** So long that it takes a while to compile and to check. */
const codeOf = (version: number): string => {
  const lines = Array.from({ length: LINES }, (_, at) => `const f${at} = (x) => x * ${at} + 1`)
  return `${lines.join('\n')}\nexport default () => ${version}`
}

/** Publishes a large function again and again, and calls what it has published. */
export const deploying: Neighbour = {
  name: 'deploying',
  async start(installation) {
    const site = await SoakSite.create(installation, 'deploying.test')
    await site.publish('version', codeOf(0))
    const outcomes = new Outcomes()
    let isOver = false
    const deploy = async (): Promise<void> => {
      for (let version = 1; !isOver; version += 1) {
        const { status } = await site.change('version', codeOf(version))
        outcomes.count(`published ${status}`)
        outcomes.count(`called ${(await site.call('version')).status}`)
        await delay(EVERY_MS)
      }
    }
    const deploys = deploy()
    return async () => {
      isOver = true
      await deploys
      return outcomes.toString()
    }
  },
}
