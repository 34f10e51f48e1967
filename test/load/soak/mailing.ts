import { setTimeout as delay } from 'node:timers/promises'

import { portalOf } from '#test/operator.ts'

import { type Neighbour, Outcomes } from './neighbour.ts'
import { SoakSite } from './site.ts'

const DOMAIN = 'mailing.test'
const RECIPIENTS = 20
const DOMAINS = 3300
const EVERY_MS = 200
const REFUSED_PAUSE_MS = 1000

/** A newsletter: as many recipients as the site's limits take, each of a domain of its own. */
export const mailing: Neighbour = {
  name: 'mailing',
  async start(installation) {
    await SoakSite.create(installation, DOMAIN)
    const portal = portalOf(installation.croft)
    const owner = await portal.admin(DOMAIN)
    const mailbox = `news@${DOMAIN}`
    const { json } = await owner('GET', '/admin/api/profile')
    await owner('POST', '/admin/api/mailboxes', { address: mailbox, owners: [json.userSub] })
    const outcomes = new Outcomes()
    let isOver = false
    const send = async (): Promise<void> => {
      for (let serial = 0; !isOver; serial += 1) {
        const admin = await portal.admin(DOMAIN)
        const to = Array.from(
          { length: RECIPIENTS },
          (_, at) => `reader@d${(serial * RECIPIENTS + at) % DOMAINS}.test`,
        )
        const message = { mailbox, to, subject: `News ${serial}`, body: 'Words.\n'.repeat(200) }
        const outcome = await admin('POST', '/admin/api/messages/send', message).then(
          () => 'accepted',
          () => 'refused',
        )
        outcomes.count(outcome)
        await delay(outcome === 'refused' ? REFUSED_PAUSE_MS : EVERY_MS)
      }
    }
    const sending = send()
    return async () => {
      isOver = true
      await sending
      return outcomes.toString()
    }
  },
}
