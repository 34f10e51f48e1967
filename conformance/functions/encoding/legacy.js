export default () =>
  ['gbk', 'shift_jis', 'windows-1252', 'utf-16le', 'euc-kr'].map((label) => [
    new TextDecoder(label).encoding,
    new TextDecoder(label).decode(new Uint8Array([0x82, 0xa0, 0xc4, 0xe3])),
  ])
