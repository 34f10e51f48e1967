export default async () => {
  return ['2026-11-25', '2026-11-25T00:00Z', 'Wed, 25 Nov 2026 10:00:00 GMT', 'nope'].map((t) =>
    Date.parse(t),
  )
}
