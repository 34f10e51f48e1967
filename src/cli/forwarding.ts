import {
  AddedForwardingTargets,
  ForwardingSettings,
  ForwardingTargetPage,
} from '#mail/forwarding/model.ts'

import { columns, printable } from './columns.ts'
import { type Arguments, type CliCommand, choiceOption, listOption } from './command.ts'
import { UsageError } from './errors.ts'
import { namedAddress } from './mail-address.ts'
import { defined } from './site-options.ts'

const TARGET = listOption('--target <address>', 'an address anywhere')

export const forwardingShow: CliCommand = {
  name: 'forwarding show',
  summary: 'Show whether a mailbox forwards its mail, and where to',
  words: ['ADDRESS'],
  options: [],
  async run({ args, service }) {
    const settings = await service.portalAs(ForwardingSettings, 'GET', settingsPath(args))
    return { json: settings, text: settingsText(settings) }
  },
}

export const forwardingSet: CliCommand = {
  name: 'forwarding set',
  summary: 'Switch the forwarding of a mailbox on or off, or change whether it keeps a copy',
  words: ['ADDRESS'],
  options: [
    choiceOption('--enabled <on|off>', ['on', 'off'], 'forward to the verified targets'),
    choiceOption('--keep-copy <on|off>', ['on', 'off'], 'keep what every target has accepted'),
  ],
  async run({ args, service }) {
    const body = defined({
      enabled: switchOf(args, 'enabled'),
      keepCopy: switchOf(args, 'keepCopy'),
    })
    if (Object.keys(body).length === 0) throw new UsageError('say what to change')
    const settings = await service.portalAs(ForwardingSettings, 'PUT', settingsPath(args), { body })
    return { json: settings, text: settingsText(settings) }
  },
}

export const forwardingTargetList: CliCommand = {
  name: 'forwarding target list',
  summary: 'List the addresses that a mailbox forwards to, and those that have yet to agree',
  words: ['ADDRESS'],
  options: [],
  async run({ args, service }) {
    const page = await service.portalAs(ForwardingTargetPage, 'GET', targetsPath(args))
    const rows = page.items.map(({ target, status, createdAt }) =>
      [target, status, `since ${createdAt}`].map(printable),
    )
    return {
      json: page,
      text: rows.length === 0 ? 'No targets yet: croft forwarding target add' : columns(rows),
    }
  },
}

export const forwardingTargetAdd: CliCommand = {
  name: 'forwarding target add',
  summary: 'Ask addresses by mail whether the mail of a mailbox may be forwarded to them',
  words: ['ADDRESS'],
  options: [TARGET],
  async run({ args, service }) {
    const body = { targets: targetsOf(args) }
    const path = targetsPath(args)
    const added = await service.portalAs(AddedForwardingTargets, 'POST', path, { body })
    const rows = added.items.map(({ target, status, verificationSent }) =>
      [target, status, verificationSent ? 'asked by mail' : unsentText(target, status)].map(
        printable,
      ),
    )
    return { json: added, text: columns(rows) }
  },
}

/** Where no gateway is set, or too many were asked for, or mail to the address came back. */
const unsentText = (target: string, status: string): string =>
  status === 'VERIFIED'
    ? 'has agreed already'
    : `not sent: "croft outbox --to ${target}" tells whether it is kept here`

export const forwardingTargetRemove: CliCommand = {
  name: 'forwarding target remove',
  summary: 'Stop forwarding to these addresses',
  words: ['ADDRESS'],
  options: [TARGET],
  async run({ args, service }) {
    const targets = targetsOf(args)
    await service.portal('DELETE', targetsPath(args), { body: { targets } })
    return { json: { removed: targets }, text: `Removed ${targets.join(', ')}.` }
  },
}

function settingsText({ mailbox, enabled, keepCopy, targets }: ForwardingSettings): string {
  const rows = [
    ['mailbox', mailbox],
    ['forwards', enabled ? 'yes' : 'no'],
    ['copy', keepCopy ? 'kept' : 'released once every target accepted'],
    ...targets.map(({ target, status }) => ['target', `${target} ${status}`]),
  ]
  return columns(rows.map((row) => row.map(printable)))
}

const settingsPath = (args: Arguments): string =>
  namedAddress(args).path('mailboxes', '/forwarding')

const targetsPath = (args: Arguments): string =>
  namedAddress(args).path('mailboxes', '/forwarding-targets')

function switchOf(args: Arguments, option: string): boolean | undefined {
  const text = args.text(option)
  return text === undefined ? undefined : text === 'on'
}

function targetsOf(args: Arguments): readonly string[] {
  const targets = args.list('target')
  if (targets === undefined) throw new UsageError('--target is missing')
  return targets
}
