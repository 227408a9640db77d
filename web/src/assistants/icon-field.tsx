import '../forms/forms.css';
import { Button, TextInput } from '@mantine/core';
import { ImageUp } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { useText } from '../i18n/i18n.ts';
import { AssistantPicture } from '../layout/records/assistant-picture.tsx';
import classes from './assistants.module.css';
import { readPicture } from './picture.ts';

const suggestions = ['💬', '✍️', '💻', '📚', '🔬', '🌍', '📈', '🎨', '⚖️', '🧮', '🍳', '🗓️'];
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

type Props = { name: string; value: string | null; onChange: (icon: string | null) => void; error?: ReactNode };

/** An emoji to type or choose, or a picture. */
export function IconField({ name, value, onChange, error }: Props) {
  const t = useText();
  const input = useRef<HTMLInputElement>(null);
  const [isBad, setBad] = useState(false);
  const isPicture = value?.startsWith('data:') === true;
  const put = (icon: string | null) => {
    setBad(false);
    onChange(icon);
  };
  const take = async (file: File | undefined) => {
    if (!file) return;
    const picture = await readPicture(file);
    if (picture === undefined) setBad(true);
    else put(picture);
  };
  return (
    <fieldset className={classes.iconField}>
      <legend>{t('assistant.icon')}</legend>
      <AssistantPicture icon={value} name={name} size="large" />
      <div className={classes.iconChoices}>
        <div className={classes.iconRow}>
          <TextInput
            aria-label={t('assistant.emoji')}
            placeholder="🙂"
            value={isPicture ? '' : (value ?? '')}
            // A newly typed emoji replaces the one before.
            onChange={(event) => put([...graphemes.segment(event.currentTarget.value.trim())].at(-1)?.segment ?? null)}
            className={classes.emojiInput}
            autoComplete="off"
          />
          <Button
            variant="default"
            leftSection={<ImageUp size={15} aria-hidden />}
            onClick={() => input.current?.click()}
            aria-describedby={isBad ? 'icon-fault' : undefined}
          >
            {t('assistant.choosePicture')}
          </Button>
          {value === null ? null : (
            <Button variant="subtle" color="gray" onClick={() => put(null)}>
              {t('assistant.removeIcon')}
            </Button>
          )}
        </div>
        <div className={classes.emojis}>
          {suggestions.map((emoji) => (
            <button
              key={emoji}
              type="button"
              aria-pressed={emoji === value}
              aria-label={t('assistant.useEmoji', { emoji })}
              onClick={() => put(emoji)}
            >
              {emoji}
            </button>
          ))}
        </div>
        <p id="icon-fault" role="alert" className={classes.fault}>
          {isBad ? t('assistant.pictureBad') : error}
        </p>
        <input
          ref={input}
          type="file"
          hidden
          accept="image/png,image/jpeg,image/webp,image/gif"
          aria-label={t('assistant.choosePicture')}
          onChange={(event) => {
            void take(event.currentTarget.files?.[0]);
            event.currentTarget.value = '';
          }}
        />
      </div>
    </fieldset>
  );
}
