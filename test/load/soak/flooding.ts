import { setTimeout as delay } from 'node:timers/promises'

import { type Neighbour, Outcomes } from './neighbour.ts'
import { SoakSite } from './site.ts'

const CONNECTIONS = 64
const COMPUTES_MS = 5
/** A client that is refused does not turn into a busy loop here. */
const REFUSED_PAUSE_MS = 20
const CODE = `export default () => {
  for (const endMs = Date.now() + ${COMPUTES_MS}; Date.now() < endMs; );
  return 1
}`

/** Many clients that call a function which computes, each as soon as it is answered. */
export const flooding: Neighbour = {
  name: 'flooding',
  async start(installation) {
    const site = await SoakSite.create(installation, 'flooding.test')
    await site.publish('compute', CODE)
    const outcomes = new Outcomes()
    let isOver = false
    const client = async (): Promise<void> => {
      while (!isOver) {
        const { status } = await site.call('compute')
        outcomes.count(String(status))
        if (status !== 200) await delay(REFUSED_PAUSE_MS)
      }
    }
    const clients = Promise.all(Array.from({ length: CONNECTIONS }, client))
    return async () => {
      isOver = true
      await clients
      return outcomes.toString()
    }
  },
}
