import type { TEXTS as ENGLISH } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof ENGLISH, string>> = {
  'aliases.title': 'Aliasse',
  'aliases.lead': 'Adressen dieser Website, die zu Postfächern führen.',
  'aliases.add': 'Alias anlegen',
  'aliases.edit': 'Alias ändern',
  'aliases.address': 'Adresse',
  'aliases.address-hint': 'Wie office@{domain}.',
  'aliases.targets': 'Postfächer',
  'aliases.targets-hint': 'Adressen von Postfächern dieser Website, eine je Zeile.',
  'aliases.none': 'Noch keine Aliasse',
  'aliases.none-lead':
    'Mit einem Alias bekommt ein Postfach die Mail mehrerer Adressen, oder mehrere Postfächer die einer Adresse.',
  'aliases.saved': 'Der Alias {address} ist gespeichert',
  'aliases.deleted': 'Der Alias {address} ist gelöscht',
  'setup.save': 'Speichern',
  'setup.change': 'Ändern',
  'setup.delete': 'Löschen',
  'setup.add': 'Hinzufügen',
  'setup.remove': 'Entfernen',
  'setup.actions': 'Aktionen für {name}',
  'contact.title': 'Empfänger des Kontaktformulars',
  'contact.lead':
    'Was Menschen in das Kontaktformular der Website schreiben, geht an diese Adressen.',
  'contact.add': 'Empfänger hinzufügen',
  'contact.addresses': 'Adressen',
  'contact.addresses-hint': 'Beliebige Adressen, eine je Zeile.',
  'contact.since': 'Seit',
  'contact.none': 'Das Kontaktformular hat noch keinen Empfänger',
  'contact.none-lead': 'Solange kein Empfänger da ist, weist das Formular alles ab.',
  'contact.added':
    '{count, plural, one {# Empfänger ist hinzugefügt} other {# Empfänger sind hinzugefügt}}',
  'contact.removed': '{address} bekommt das Kontaktformular nicht mehr',
  'suppressions.title': 'Gesperrte Adressen',
  'suppressions.lead': 'An diese Adressen sendet die Website nichts, weil Mail an sie zurückkam.',
  'suppressions.reason': 'Was der Server sagte',
  'suppressions.again': 'Wieder senden',
  'suppressions.removed': 'Die Website sendet wieder an {address}',
  'suppressions.none': 'Keine Adresse ist gesperrt',
  'suppressions.none-lead':
    'Eine Adresse steht hier, nachdem ein Server gesagt hat, dass es sie nicht gibt.',
}
