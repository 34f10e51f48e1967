// Runs in a page, which has loaded nothing else.
import { createClient } from './client.js'

export async function callAll(visitorToken, adminToken) {
  const client = createClient({ baseUrl: location.origin, token: visitorToken })
  const { items } = await client.admin.get('/admin/api/users', { token: adminToken })
  const aborting = new AbortController()
  const slow = client
    .publicData('slow', {}, { signal: aborting.signal })
    .catch((error) => error.name)
  aborting.abort()
  return {
    hello: await client.publicData('hello', { name: 'Ada' }),
    echo: await client.data('echo', 1),
    users: items.map(({ role }) => role).toSorted(),
    failure: await client
      .publicData('hello', {})
      .catch(({ name, status, code, requestId }) => ({ name, status, code, requestId })),
    aborted: await slow,
  }
}
