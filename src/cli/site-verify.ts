import { terminalText } from '#base/terminal-text.ts'

import { type Arguments, type CliCommand, choiceOption, textOption } from './command.ts'
import { runChecks } from './launch-checks.ts'
import { MAIL_DEPTHS, type MailDepth } from './launch-target.ts'
import { readSite } from './site-show.ts'

export const siteVerify: CliCommand = {
  name: 'site verify',
  summary: 'Validate a site before its launch: its responses, and that its mail is complete',
  words: ['DOMAIN'],
  options: [
    textOption('--user <email>', 'as this admin; else as the first super-admin'),
    textOption('--operation <name>', 'call this one; else any that the site has'),
    textOption('--payload <json>', 'what the operation is called with; {} by default'),
    choiceOption(
      '--mail <depth>',
      MAIL_DEPTHS,
      'how deep to look at mail: rows, objects (the default) for their lengths too, or bytes to read all',
    ),
  ],
  async run(call) {
    const { args, service } = call
    const site = await readSite(service, args.word)
    const checks = await runChecks({
      service,
      site,
      admin: args.text('user') ?? site.superAdmins[0],
      operation: args.text('operation'),
      payload: args.text('payload') ?? '{}',
      mail: mailDepth(args),
      progress: (line) => call.progress(line),
    })
    const address = await service.address()
    const failed = checks.some(({ ok }) => !ok)
    const lines = checks.map(({ name, ok, detail }) => `${ok ? '✓' : '✗'} ${name}: ${detail}`)
    const first = `Requests for ${site.domain} go to ${address}.`
    const last = failed ? `${site.domain} is not ready to launch.` : `${site.domain} is ready.`
    return {
      json: { siteId: site.siteId, siteDomain: site.domain, address, ok: !failed, checks },
      text: terminalText([first, ...lines, last].join('\n')),
      failed,
    }
  },
}

const mailDepth = (args: Arguments): MailDepth =>
  MAIL_DEPTHS.find((depth) => depth === args.text('mail')) ?? 'objects'
