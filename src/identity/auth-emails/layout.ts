import type { Language } from '#base/language.ts'
import type { LocalizedMessage } from '#languages/message.ts'

import type { EmailText } from './email-text.ts'

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const CODE = 'font:600 32px/1.3 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace'

/** Plain text that says everything the HTML says. */
export function plainTextBody(words: EmailText, name: string, language: Language): string {
  const said = (message: LocalizedMessage): string => message.in(language)
  return [
    said(words.heading),
    ...words.paragraphs.map(said),
    ...(words.code === undefined ? [] : [`    ${words.code}`]),
    ...(words.link === undefined ? [] : [words.link.url]),
    said(words.closing),
    `-- \n${name}`,
  ].join('\n\n')
}

/** No images, scripts or outside files. Colours are left to the reader's program, so that dark stays dark. */
export function htmlBody(words: EmailText, name: string, language: Language): string {
  const said = (message: LocalizedMessage): string => escapeHtml(message.in(language))
  return [
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="supported-color-schemes" content="light dark">',
    `<title>${said(words.subject)}</title></head>`,
    `<body style="margin:0;padding:24px 16px;${FONT};font-size:16px;line-height:1.5">`,
    '<div style="max-width:480px;margin:0 auto">',
    `<p style="margin:0 0 24px;font-weight:600">${escapeHtml(name)}</p>`,
    `<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${said(words.heading)}</h1>`,
    ...words.paragraphs.map((text) => `<p style="margin:0 0 16px">${said(text)}</p>`),
    ...(words.code === undefined ? [] : [codeBlock(words.code)]),
    ...(words.link === undefined ? [] : [linkBlock(said(words.link.label), words.link.url)]),
    `<p style="margin:24px 0 0;font-size:14px;opacity:.75">${said(words.closing)}</p>`,
    '</div></body></html>',
  ].join('\n')
}

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const codeBlock = (code: string): string =>
  `<p style="margin:0 0 16px;${CODE};letter-spacing:6px">${escapeHtml(code)}</p>`

/** The address is shown too: a link that says where it leads is not mistaken for another. */
function linkBlock(label: string, url: string): string {
  const href = escapeHtml(url)
  const button =
    'display:inline-block;padding:12px 20px;border:2px solid;border-radius:8px;font-weight:600;text-decoration:none;color:inherit'
  return [
    `<p style="margin:0 0 16px"><a href="${href}" style="${button}">${label}</a></p>`,
    `<p style="margin:0 0 16px;font-size:14px;word-break:break-all"><a href="${href}">${href}</a></p>`,
  ].join('\n')
}
