import { Button } from '@mantine/core';
import { ImageUp } from 'lucide-react';
import { type ReactNode, useId, useRef, useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import { useFileDrop } from '../manifest/use-file-drop.ts';
import { type ImageFault, readBrandImage } from './brand-image.ts';
import classes from './branding.module.css';

/** An image to choose or drop; it is checked before it is sent. */
export function ImageField({
  label,
  value,
  error,
  onChange,
}: {
  label: string;
  value: string | null;
  error?: ReactNode;
  onChange: (dataUrl: string | null) => void;
}) {
  const t = useText();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<ImageFault>();
  const take = async (file: File | undefined) => {
    if (!file) return;
    const image = await readBrandImage(file);
    setFault('fault' in image ? image.fault : undefined);
    if ('dataUrl' in image) onChange(image.dataUrl);
  };
  const drop = useFileDrop((file) => void take(file));
  const shownFault = fault === undefined ? error : t(`branding.fault.${fault}`);
  return (
    // Dropping is for mouse users; the button does the same for everybody.
    <div className={classes.image} data-over={drop.isOver || undefined} {...drop.handlers}>
      <div className={classes.picture}>
        <img
          src={value ?? '/favicon.svg'}
          alt={t(value === null ? 'branding.imageDefault' : 'branding.imageOwn', { name: label })}
        />
      </div>
      <div className={classes.imageWords}>
        <strong id={id}>{label}</strong>
        <div className={classes.imageButtons}>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<ImageUp size={14} aria-hidden />}
            aria-label={t('branding.chooseNamed', { name: label })}
            aria-describedby={shownFault ? `${id}-fault` : undefined}
            onClick={() => input.current?.click()}
          >
            {t('branding.choose')}
          </Button>
          {value === null ? null : (
            <Button
              size="compact-sm"
              variant="subtle"
              color="gray"
              aria-label={t('branding.removeNamed', { name: label })}
              onClick={() => {
                setFault(undefined);
                onChange(null);
              }}
            >
              {t('branding.remove')}
            </Button>
          )}
        </div>
        <p id={`${id}-fault`} className={classes.fault} role="alert">
          {shownFault}
        </p>
        <input
          ref={input}
          type="file"
          accept="image/png,image/jpeg,image/webp,image/svg+xml,image/x-icon,.ico"
          hidden
          aria-labelledby={id}
          data-field={label}
          onChange={(event) => {
            void take(event.currentTarget.files?.[0]);
            event.currentTarget.value = '';
          }}
        />
      </div>
    </div>
  );
}
