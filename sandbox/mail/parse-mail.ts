import { Buffer } from 'node:buffer'

import { parseAddressOctets } from '#sandbox/mail/mime/address-list.ts'
import { decodeText } from '#sandbox/mail/mime/charsets.ts'
import { decodeEncodedWords } from '#sandbox/mail/mime/encoded-words.ts'
import { type Entity, readEntities } from '#sandbox/mail/mime/entities.ts'
import { charsetOfFields } from '#sandbox/mail/mime/field-charset.ts'
import { decodeTransfer } from '#sandbox/mail/mime/transfer-encoding.ts'

import { type MailBody, bodyOf, textOfHtml } from './body.ts'
import { bounceOf } from './bounces.ts'
import { safeFilename } from './filenames.ts'
import { contentIdsIn, isShownImage } from './own-images.ts'
import type { MailOutline, MailPart } from './protocol.ts'
import type { ReadMessage } from './read-message.ts'
import { sanitizedHtml } from './sanitized-html.ts'
import { type FilePart, shownParts, hasHtml, type Shown } from './shown-parts.ts'
import { ShownText } from './shown-text.ts'

/** More are not shown: the message itself has them all. */
const MAX_ATTACHMENTS = 1000

/** Of the texts that are not decoded to their end so many are files, too. */
const MAX_CUT_PARTS = 20

/** Of what a report returns the headers come first: more of a part need not be looked at. */
const MAX_PART_TEXT = 64 * 1024
const MAX_FIELD_BYTES = 64 * 1024
const TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/
const MAX_CONTENT_ID = 998

/** Of HTML among other texts, so much is shown as text. */
const MAX_HTML = 1024 * 1024
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export interface MailPieces {
  readonly outline: MailOutline
  /** Text, HTML and the attachments, in the order of the outline. */
  readonly contents: readonly Uint8Array[]
}

interface Part {
  readonly outline: MailPart
  readonly content: Uint8Array
}

/** Throws when the message is nested too deep or a header is too long: then only its raw bytes can be shown. */
export function parseMail(message: Buffer): MailPieces {
  const { root, isCut } = readEntities(message)
  const shownText = new ShownText(message)
  const { shown, files } = shownParts(root, {
    textOf: (entity) => shownText.of(entity),
    fieldCharset: () => charsetOfFields(message, root),
  })
  const [text, html] = [renderedText(shown), renderedHtml(shown)]
  const body = bodyOf(text, html)
  const parts = partsOf(message, files, body)
  const cut = shownText.cut.filter((entity) => files.every((file) => file.entity !== entity))
  const whole = cut.length > 0 ? cutParts(message, cut) : cutBodies({ text, html }, body)
  const shownFiles = [...parts, ...whole].slice(0, MAX_ATTACHMENTS)
  return {
    outline: {
      textBytes: body.text.length,
      htmlBytes: body.html?.length ?? null,
      truncated:
        isCut ||
        shownText.cut.length > 0 ||
        body.isTextCut ||
        body.isHtmlCut ||
        files.length > MAX_ATTACHMENTS,
      snippet: body.snippet,
      attachments: shownFiles.map(({ outline }) => outline),
      bounce: bounceOf(readMessage(message, root, { body, files })),
    },
    contents: [
      body.text,
      body.html ?? new Uint8Array(),
      ...shownFiles.map(({ content }) => content),
    ],
  }
}

/** What was cut is offered whole; HTML never without being sanitised, for it comes as a download. */
function cutBodies(
  {
    text = '',
    html = '',
  }: { readonly text?: string | undefined; readonly html?: string | undefined },
  body: MailBody,
): Part[] {
  return [
    ...(body.isTextCut && text !== '' ? [wholeOf('text/plain', Buffer.from(text))] : []),
    ...(body.isHtmlCut ? [wholeOf('text/html', Buffer.from(html))] : []),
  ]
}

/** Texts that were not decoded to their end, as they were sent. */
const cutParts = (message: Buffer, cut: readonly Entity[]): Part[] =>
  cut.slice(0, MAX_CUT_PARTS).map((entity) => wholeOf(entity.type, contentOf(message, entity)))

function wholeOf(type: string, content: Buffer): Part {
  const isHtml = type === 'text/html'
  const outline = {
    filename: isHtml ? 'message.html' : 'message.txt',
    contentType: isHtml ? 'text/html' : 'text/plain',
    sizeBytes: content.length,
    contentId: null,
    inline: false,
  }
  return { outline, content }
}

/** Inline are those that the HTML shows where it refers to them: of several with one Content-ID it shows the last. */
function partsOf(message: Buffer, files: readonly FilePart[], { html }: MailBody): Part[] {
  const parts = files.slice(0, MAX_ATTACHMENTS).map((file, at) => partOf(message, file, at + 1))
  const shown = contentIdsIn(html?.toString() ?? '')
  const images = parts.filter(({ outline }) => isShownImage(outline.contentType))
  const inline = new Map(images.map((part) => [part.outline.contentId, part]))
  return parts.map((part) => {
    const { contentId } = part.outline
    const isInline = contentId !== null && shown.has(contentId) && inline.get(contentId) === part
    return { ...part, outline: { ...part.outline, inline: isInline } }
  })
}

function partOf(message: Buffer, file: FilePart, place: number): Part {
  const { entity, filename } = file
  const content = contentOf(message, entity)
  const contentType = TYPE.test(entity.contentType.value || entity.type)
    ? entity.type
    : 'application/octet-stream'
  return {
    outline: {
      filename: safeFilename(filename ?? null, contentType, place),
      contentType,
      sizeBytes: content.length,
      contentId: contentIdOf(file.contentId),
      inline: false,
    },
    content,
  }
}

const contentOf = (message: Buffer, { body, transferEncoding }: Entity): Buffer =>
  decodeTransfer(message.subarray(body.start, body.end), transferEncoding)

function contentIdOf(value: string): string | null {
  const id = value.replaceAll(/[<>\s\p{Cc}]+/gu, '').toWellFormed()
  return id === '' || id.length > MAX_CONTENT_ID ? null : id
}

function readMessage(
  message: Buffer,
  { fields }: Entity,
  { body, files }: { readonly body: MailBody; readonly files: readonly FilePart[] },
): ReadMessage {
  const header = (name: string): string => fields.text(name, { maxBytes: MAX_FIELD_BYTES }).trim()
  const { values, decode } = fields.octets('from', { maxBytes: MAX_FIELD_BYTES })
  const authors = parseAddressOctets(values[0] ?? '', { maxCount: 10, decode })
  const named = authors.find(({ address }) => address.includes('@'))
  return {
    header,
    subject: decodeEncodedWords(header('subject')),
    author: named?.address.toLowerCase() ?? '',
    text: body.text.toString(),
    parts: files.map(({ entity }) => ({
      type: entity.type,
      text: () => decodeText(contentOf(message, entity).subarray(0, MAX_PART_TEXT)),
    })),
  }
}

/** The parts of a message as one text; undefined for one that is HTML alone. */
const renderedText = (shown: Shown): string | undefined =>
  hasPlain(shown) ? textOf(shown) : undefined

/** The parts of a message as one page; undefined for one that has no HTML. */
const renderedHtml = (shown: Shown): string | undefined =>
  hasHtml(shown) ? htmlOf(shown) : undefined

function hasPlain(shown: Shown): boolean {
  if (shown.kind === 'all') return seen(shown.items).some(hasPlain)
  return shown.kind !== 'html'
}

function textOf(shown: Shown): string {
  if (shown.kind === 'all') return seen(shown.items).map(textOf).join('\n')
  if (shown.kind === 'either') return textOf(shown.plain)
  return shown.kind === 'plain'
    ? shown.text
    : `${textOfHtml(sanitizedHtml(shown.text.slice(0, MAX_HTML)))}\n`
}

function htmlOf(shown: Shown): string {
  if (shown.kind === 'all') return seen(shown.items).map(htmlOf).join('\n')
  if (shown.kind === 'either') return htmlOf(shown.html)
  if (shown.kind === 'html') return shown.text
  const escaped = shown.text.replaceAll(/[&<>]/g, (letter) => ESCAPES[letter] ?? letter)
  return `<div style="white-space:pre-wrap">${escaped}</div>`
}

const seen = (items: readonly Shown[]): readonly Shown[] =>
  items.some(({ isReadable }) => isReadable) ? items.filter(({ isReadable }) => isReadable) : items
