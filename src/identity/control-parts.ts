import { DataGroups, type DataGroupsDeps } from './groups/service.ts'
import { AuthSettings } from './pools/auth-settings.ts'
import type { Sessions } from './sessions/service.ts'
import type { SignOut } from './sessions/sign-out.ts'
import { UserSessions } from './sessions/user-sessions.ts'
import type { Users } from './users/service.ts'

export interface ControlServices {
  readonly dataGroups: DataGroups
  readonly authSettings: AuthSettings
  readonly userSessions: UserSessions
}

/** What admins and the operator decide about those who are already there. */
export function openControls(
  deps: DataGroupsDeps & {
    readonly baseUrl: string
    readonly users: Users
    readonly sessions: Sessions
    readonly signOut: SignOut
  },
): ControlServices {
  return {
    dataGroups: new DataGroups(deps),
    authSettings: new AuthSettings(deps),
    userSessions: new UserSessions(deps),
  }
}
