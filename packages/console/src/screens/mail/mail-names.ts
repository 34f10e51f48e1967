/** `Ann Lee <ann@shop.test>` */
const NAMED = /^\s*(.*?)\s*<([^<>]+)>\s*$/s

/** The name of a person that a message names, or the address where there is no name. */
export function shownName(text: string): string {
  const [, name = '', address] = NAMED.exec(text) ?? []
  if (address === undefined) return text
  return name.replace(/^"(.*)"$/s, '$1') || address
}

export const shownAddress = (text: string): string => NAMED.exec(text)?.[2] ?? text.trim()

/** What a person typed as recipients: addresses between commas, semicolons or lines. A comma in quotes or brackets is part of the name. */
export function splitAddresses(text: string): readonly string[] {
  const found = text.match(/(?:"[^"]*"|<[^>]*>|[^,;\n"<]|["<])+/g) ?? []
  return found.map((address) => address.trim()).filter((address) => address !== '')
}

/** What a reply takes from the message that it answers. */
export interface RepliedMessage {
  readonly mailbox: string
  readonly folder: string
  readonly from: string
  readonly authors?: readonly string[]
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly replyTo: readonly string[]
}

/** To which people a reply goes, as far as the message says it: the service leaves out the other addresses of the mailbox, too. */
export function replyNames(message: RepliedMessage, toAll: boolean): readonly string[] {
  const { mailbox, folder, from, authors = [from], to, cc, replyTo } = message
  const isOwn = folder === 'SENT' || shownAddress(from).toLowerCase() === mailbox.toLowerCase()
  const first = isOwn ? to : replyTo.length > 0 ? replyTo : authors
  const all = toAll ? [...first, ...(isOwn ? [] : to), ...cc] : first
  const byAddress = new Map(all.map((one) => [shownAddress(one).toLowerCase(), one]))
  byAddress.delete(mailbox.toLowerCase())
  return [...byAddress.values()]
}

/** The text of a message, as a reply cites it. */
export const citedText = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`.trimEnd()))
    .join('\n')
