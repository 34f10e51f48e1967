import { invalid } from '#base/app-error.ts'

import { MAX_LOGO_BYTES } from './model.ts'

export interface Logo {
  readonly bytes: Buffer
  readonly type: LogoType
}
export type LogoType = 'image/png' | 'image/jpeg' | 'image/webp'

const DATA_URI = /^data:(image\/(?:png|jpeg|webp));base64,(.+)$/

/** What files of each kind begin with. */
const BEGINS: Record<LogoType, (bytes: Buffer) => boolean> = {
  'image/png': (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
  'image/jpeg': (bytes) => bytes.subarray(0, 3).toString('latin1') === '\xff\xd8\xff',
  'image/webp': (bytes) =>
    bytes.subarray(0, 4).toString('latin1') === 'RIFF' &&
    bytes.subarray(8, 12).toString('latin1') === 'WEBP',
}

/** The picture of a `data:` URI. 400 for what is no such picture, whatever it says that it is. */
export function readLogo(uri: string): Logo {
  const [, type, encoded] = DATA_URI.exec(uri) ?? []
  const bytes = Buffer.from(encoded ?? '', 'base64')
  if (bytes.length > MAX_LOGO_BYTES) throw invalid('logo', `has more than ${MAX_LOGO_BYTES} bytes`)
  if (!isLogoType(type) || !BEGINS[type](bytes)) throw invalid('logo', 'is not the picture it says')
  return { bytes, type }
}

const isLogoType = (type: string | undefined): type is LogoType =>
  type !== undefined && Object.hasOwn(BEGINS, type)
