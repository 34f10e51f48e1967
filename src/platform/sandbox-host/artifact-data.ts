import { isUtf8 } from 'node:buffer'

import { isStorable } from '#base/storable-text.ts'
import { DATA_URL, mayNeedData } from '#sandbox/modules/data-files.ts'

/** Whether a script among the files may need those that are neither scripts nor JSON. */
export const needsData = (files: ReadonlyMap<string, string>): boolean =>
  [...files].some(([path, text]) => !path.endsWith('.json') && mayNeedData(text))

/** A file as functions are given it: text, or a data URL where it is not text. */
export function dataText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  const isText = isUtf8(bytes) && isStorable(text) && !text.startsWith(DATA_URL)
  return isText ? text : DATA_URL + bytes.toString('base64')
}
