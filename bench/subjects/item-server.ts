/** What the host calls ask: items by id, from memory. */
import { ITEM_IDS, itemOf } from '#bench/job-calls.ts'

const items = new Map(ITEM_IDS.map((id) => [`/item/${id}`, JSON.stringify(itemOf(id))]))
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch({ url }) {
    const item = items.get(new URL(url).pathname)
    return new Response(item ?? 'null', { headers: { 'content-type': 'application/json' } })
  },
})
console.log(`port ${server.port}`)
