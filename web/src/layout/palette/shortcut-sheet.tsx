import 'virtual:texts/pages';
import 'virtual:texts/palette';
import '../dialogs/dialogs.css';
import { Modal } from '@mantine/core';
import { ArrowDown, ArrowUp, CornerDownLeft } from 'lucide-react';
import { readSendKey } from '../../conversation/choices/send-key.ts';
import { useText } from '../../i18n/i18n.ts';
import { useReturnFocus } from '../dialogs/use-return-focus.ts';
import classes from './shortcut-sheet.module.css';
import { isMac, keyText, mod, shift, shortcutKeys } from './shortcuts.ts';

/** Every keyboard shortcut, grouped by where it works. */
export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const t = useText();
  useReturnFocus();
  const groups = [
    {
      title: t('shortcuts.everywhere'),
      rows: [
        [t('shortcuts.palette'), shortcutKeys.palette],
        [t('nav.newConversation'), shortcutKeys.newConversation],
        [t('shortcuts.sidebar'), shortcutKeys.sidebar],
        [t('shortcuts.copyLast'), shortcutKeys.copyLast],
        [t('shortcuts.focusComposer'), shortcutKeys.focusComposer],
        [t('shortcuts.stop'), shortcutKeys.stop],
        [t('shortcuts.help'), shortcutKeys.help],
      ],
    },
    {
      title: t('shortcuts.writing'),
      rows: [
        [t('composer.send'), readSendKey() === 'enter' ? ['↵'] : [mod, '↵']],
        [t('composer.sendNow'), [mod, shift, '↵']],
        [t('shortcuts.newline'), readSendKey() === 'enter' ? [shift, '↵'] : ['↵']],
        [t('shortcuts.editLast'), shortcutKeys.editLast],
        [t('shortcuts.saveEdit'), [mod, '↵']],
        [t('shortcuts.prompts'), ['/']],
        [t('shortcuts.assistants'), ['@']],
        [t('shortcuts.placeholder'), ['Tab']],
      ],
    },
    {
      title: t('shortcuts.list'),
      rows: [
        [t('shortcuts.move'), ['↑', '↓']],
        [t('nav.rename'), ['F2']],
        [t('shortcuts.remove'), [isMac ? 'Fn ⌫' : 'Del']],
        [t('shortcuts.choose'), [t('shortcuts.space')]],
        [t('shortcuts.chooseRange'), [shift, '↓']],
      ],
    },
  ] as const;
  return (
    <Modal.Root opened onClose={onClose} size="38rem">
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <div className={classes.head}>
            <Modal.Title className={classes.title}>{t('shortcuts.title')}</Modal.Title>
            <Modal.CloseButton aria-label={t('app.close')} />
          </div>
          <div className={classes.groups}>
            {groups.map(({ title, rows }) => (
              <section key={title} aria-label={title}>
                <h3 className={classes.heading}>{title}</h3>
                <dl className={classes.list}>
                  {rows.map(([label, keys]) => (
                    <div key={label} className={classes.row}>
                      <dt>{label}</dt>
                      <dd>
                        {keys.map((key) => (
                          <KeyCap key={key} name={key} />
                        ))}
                      </dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

const pictures = { '↵': CornerDownLeft, '↑': ArrowUp, '↓': ArrowDown } as const;
const pictureNames = { '↵': 'shortcuts.enter', '↑': 'shortcuts.up', '↓': 'shortcuts.down' } as const;

/** A key as shown; symbols are drawn, and named for screen readers. */
function KeyCap({ name }: { name: string }) {
  const t = useText();
  if (name !== '↵' && name !== '↑' && name !== '↓') return <kbd>{keyText(name, t)}</kbd>;
  const Picture = pictures[name];
  return (
    <kbd>
      <Picture size={13} aria-hidden />
      <span className="visually-hidden">{t(pictureNames[name])}</span>
    </kbd>
  );
}
