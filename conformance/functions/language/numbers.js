export default async () => {
  return [
    (0.1).toFixed(20),
    (255).toString(16),
    (1e21).toString(),
    Number('0x1f'),
    parseInt('12px'),
    (25).toPrecision(1),
    Number.MAX_SAFE_INTEGER,
  ]
}
