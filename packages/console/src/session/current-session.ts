import type { Session } from './session.ts'

let current: Session | undefined

export function provideSession(session: Session): void {
  current = session
}

/** The session of the tab. `main.tsx` makes it before anything is rendered. */
export function currentSession(): Session {
  if (current === undefined) throw new Error('There is no session yet')
  return current
}
