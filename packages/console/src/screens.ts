import type { ComponentType } from 'preact'

import type { IconName } from '#app/components/icon.tsx'
import type { PathParams } from '#app/router/route-match.ts'
import type { Role } from '#app/session/tokens.ts'
import type { ShellKey } from '#app/texts/shell.ts'

export type Area = 'site' | 'people' | 'data' | 'code' | 'mail' | 'settings'

/** In the order of the navigation. */
export const AREAS: readonly Area[] = ['site', 'mail', 'people', 'data', 'code', 'settings']

export interface ScreenProps {
  readonly params: PathParams
}

export interface Screen {
  /** With names in braces. Not below a path that the service answers itself. */
  readonly path: string
  /** Of the texts of the shell: the navigation, the palette and the title of the tab say it. */
  readonly title: ShellKey
  readonly area: Area
  /** Screens without one are reached from another, not from the navigation. */
  readonly icon?: IconName
  /** The least role that the screen is for. */
  readonly role: Role
  readonly load: () => Promise<ComponentType<ScreenProps>>
}

const loadInbox = async () => (await import('./screens/mail/inbox.tsx')).Inbox

/** Every screen, in the order of the navigation. */
export const SCREENS: readonly Screen[] = [
  {
    path: '/',
    title: 'screen.home',
    area: 'site',
    icon: 'home',
    role: 'user',
    load: async () => (await import('./screens/home/home.tsx')).Home,
  },
  {
    path: '/mail',
    title: 'screen.inbox',
    area: 'mail',
    icon: 'mail',
    role: 'user',
    load: loadInbox,
  },
  {
    path: '/mail/compose',
    title: 'screen.compose',
    area: 'mail',
    role: 'user',
    load: async () => (await import('./screens/mail/compose.tsx')).Compose,
  },
  {
    path: '/mail/messages/{id}',
    title: 'screen.message',
    area: 'mail',
    role: 'user',
    load: async () => (await import('./screens/mail/message.tsx')).MessageScreen,
  },
  { path: '/mail/{address}', title: 'screen.inbox', area: 'mail', role: 'user', load: loadInbox },
  {
    path: '/mail/{address}/{folder}',
    title: 'screen.inbox',
    area: 'mail',
    role: 'user',
    load: loadInbox,
  },
  {
    path: '/mailboxes',
    title: 'screen.mailboxes',
    area: 'mail',
    icon: 'mailbox',
    role: 'admin',
    load: async () => (await import('./screens/mail/mailboxes.tsx')).Mailboxes,
  },
  {
    path: '/mailboxes/{address}',
    title: 'screen.mailbox',
    area: 'mail',
    role: 'admin',
    load: async () => (await import('./screens/mail/mailbox.tsx')).MailboxScreen,
  },
  {
    path: '/aliases',
    title: 'screen.aliases',
    area: 'mail',
    icon: 'alias',
    role: 'admin',
    load: async () => (await import('./screens/mail/aliases.tsx')).Aliases,
  },
  {
    path: '/contact',
    title: 'screen.contact',
    area: 'mail',
    icon: 'contact',
    role: 'admin',
    load: async () => (await import('./screens/mail/contact-recipients.tsx')).ContactRecipients,
  },
  {
    path: '/suppressions',
    title: 'screen.suppressions',
    area: 'mail',
    icon: 'shield',
    role: 'admin',
    load: async () => (await import('./screens/mail/suppressions.tsx')).Suppressions,
  },
  {
    path: '/people/admins',
    title: 'screen.admins',
    area: 'people',
    icon: 'people',
    role: 'admin',
    load: async () => (await import('./screens/people/admins.tsx')).Admins,
  },
  {
    path: '/people/admins/{userId}',
    title: 'screen.admin',
    area: 'people',
    role: 'admin',
    load: async () => (await import('./screens/people/admin.tsx')).Admin,
  },
  {
    path: '/tables',
    title: 'screen.tables',
    area: 'data',
    icon: 'table',
    role: 'admin',
    load: async () => (await import('./screens/data/tables.tsx')).Tables,
  },
  {
    path: '/tables/{resourceId}',
    title: 'screen.table',
    area: 'data',
    role: 'admin',
    load: async () => (await import('./screens/data/table.tsx')).Table,
  },
  {
    path: '/logs',
    title: 'screen.logs',
    area: 'code',
    icon: 'log',
    role: 'admin',
    load: async () => (await import('./screens/logs/logs.tsx')).Logs,
  },
]

const ROLES: readonly Role[] = ['user', 'admin', 'super-admin']

/** Whether an admin of that role may use the screen. */
export const isFor = (screen: Screen, role: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(screen.role)
