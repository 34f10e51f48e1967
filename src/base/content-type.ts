const FALLBACK = 'application/octet-stream'
const UTF_8 = '; charset=utf-8'

/** By extension, in lower case. Texts get a charset where they are sent. */
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'application/xhtml+xml',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  cjs: 'text/javascript',
  json: 'application/json',
  map: 'application/json',
  jsonld: 'application/ld+json',
  geojson: 'application/geo+json',
  webmanifest: 'application/manifest+json',
  xml: 'application/xml',
  xsl: 'application/xslt+xml',
  rss: 'application/rss+xml',
  atom: 'application/atom+xml',
  txt: 'text/plain',
  text: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  ics: 'text/calendar',
  vcf: 'text/vcard',
  vtt: 'text/vtt',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  toml: 'application/toml',
  wasm: 'application/wasm',
  svg: 'image/svg+xml',
  png: 'image/png',
  apng: 'image/apng',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  heic: 'image/heic',
  heif: 'image/heif',
  jxl: 'image/jxl',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  woff: 'font/woff',
  woff2: 'font/woff2',
  ttf: 'font/ttf',
  otf: 'font/otf',
  eot: 'application/vnd.ms-fontobject',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  ogg: 'audio/ogg',
  oga: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  weba: 'audio/webm',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  webm: 'video/webm',
  ogv: 'video/ogg',
  mov: 'video/quicktime',
  m3u8: 'application/vnd.apple.mpegurl',
  mpd: 'application/dash+xml',
  ts: 'video/mp2t',
  pdf: 'application/pdf',
  epub: 'application/epub+zip',
  rtf: 'application/rtf',
  zip: 'application/zip',
  gz: 'application/gzip',
  tar: 'application/x-tar',
  br: FALLBACK,
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  '7z': 'application/x-7z-compressed',
  rar: 'application/vnd.rar',
  apk: 'application/vnd.android.package-archive',
  aab: FALLBACK,
  pkpass: 'application/vnd.apple.pkpass',
  usdz: 'model/vnd.usdz+zip',
  gpx: 'application/gpx+xml',
  kml: 'application/vnd.google-earth.kml+xml',
  asc: 'application/pgp-keys',
  glb: 'model/gltf-binary',
  gltf: 'model/gltf+json',
}

/** By the whole name, of files that have no extension. */
const TYPES_OF_NAMES: Readonly<Record<string, string>> = {
  'apple-app-site-association': 'application/json',
}

/** Texts whose type has the parameter; JSON is UTF-8 by itself, but clients that do not know so are many. */
const TEXTS =
  /^(?:text\/|application\/(?:json|javascript|xml|yaml|toml|[\w.-]+\+(?:json|xml))$|image\/svg\+xml$)/

/** What is worth compressing and is no text: formats without a compression of their own. */
const COMPRESSIBLE_BINARIES = new Set([
  'application/wasm',
  'application/vnd.ms-fontobject',
  'application/rtf',
  'font/ttf',
  'font/otf',
  'image/bmp',
  'image/x-icon',
  'model/gltf-binary',
  'application/vnd.apple.mpegurl',
])

/** What a browser shows as a page of its own, and another site could put into a frame. */
const DOCUMENTS = /^(?:text\/html|application\/(?:xhtml\+xml|xml|pdf)|image\/svg\+xml)/

/** As `Content-Type` has it, by the name of the file alone. */
export function contentTypeOf(path: string): string {
  const type = typeOf(path)
  return TEXTS.test(type) ? type + UTF_8 : type
}

export function isCompressible(path: string): boolean {
  const type = typeOf(path)
  return TEXTS.test(type) || COMPRESSIBLE_BINARIES.has(type)
}

export const isDocument = (contentType: string): boolean => DOCUMENTS.test(contentType)

function typeOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (Object.hasOwn(TYPES_OF_NAMES, name)) return TYPES_OF_NAMES[name] ?? FALLBACK
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 ? name.slice(dot + 1).toLowerCase() : ''
  return (Object.hasOwn(TYPES, extension) && TYPES[extension]) || FALLBACK
}
