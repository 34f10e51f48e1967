export default async () => {
  return [
    new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(1234.5),
    (1234567.891).toLocaleString('en-US'),
  ]
}
