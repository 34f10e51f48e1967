import { setTimeout as sleep } from 'node:timers/promises'

const STEP_MS = 10
/** A client that holds an open connection may use it again within this time before it is closed. */
const IDLE_MS = 250

/** What a server must be able to say about itself while it drains. */
export interface Activity {
  /** Requests not yet answered to the last byte. */
  inFlight(): number
  /** When the newest request began, by `performance.now()`. */
  lastRequestAt(): number
}

/** True when the server fell silent, false when the deadline came first. */
export async function waitUntilIdle(activity: Activity, deadlineMs: number): Promise<boolean> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < deadlineMs) {
    const since = Math.max(startedAt, activity.lastRequestAt())
    if (activity.inFlight() === 0 && performance.now() - since >= IDLE_MS) return true
    await sleep(STEP_MS)
  }
  return false
}

/** The same response, telling the client that this was the last one on its connection. */
export function closingConnection(response: Response): Response {
  try {
    response.headers.set('connection', 'close')
    return response
  } catch {
    // Headers of `Response.redirect` and of fetched responses cannot be changed.
    const headers = new Headers(response.headers)
    headers.set('connection', 'close')
    return new Response(response.body, {
      status: response.status,
      statusText: response.statusText,
      headers,
    })
  }
}
