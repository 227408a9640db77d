/** Texts of backups and of the state of the installation. ICU MessageFormat, ids `<area>.<what>`. */
export const texts = {
  'backups.text':
    'One file with all data: accounts, conversations, files and settings. People can keep working while it is created.',
  'backups.make': 'Make a backup',
  'backups.making': 'Backup in progress',
  'backups.begun': 'Backup started.',
  'backups.place': 'Backups go to {place}.',
  'backups.scheduled': 'Scheduled: {schedule} (UTC). The newest {keep, plural, one {one is} other {# are}} kept.',
  'backups.unscheduled': 'Automatic backups are off. Set BACKUP_SCHEDULE to turn them on.',
  'backups.encrypted': 'Backups are encrypted with the passphrase in BACKUP_PASSPHRASE.',
  'backups.plain':
    'Backups aren’t encrypted. The installation’s keys are not included; keep them separately (secrets.json or your settings).',
  'backups.list': 'Existing backups',
  'backups.listText': 'To restore one, run the operator command “restore” on an empty installation.',
  'backups.empty': 'No backups yet',
  'backups.emptyText': 'Create the first one now. People can keep working meanwhile.',
  'backups.cause.command': 'From the command line',
  'backups.cause.schedule': 'Scheduled',
  'backups.cause.page': 'From this page',
  'backups.state.running': 'Running',
  'backups.state.done': 'Done',
  'backups.state.failed': 'Failed',
  'backups.state.lost': 'Interrupted',
  'backups.lost': 'The backup process stopped. Start another backup.',
  'backups.progress': '{rows, number} rows, {files, plural, one {# file} other {# files}}',
} as const;
