import { ImageIcon } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../i18n.ts';
import { imageAddress } from './links.ts';
import classes from './markdown.module.css';

/** A picture on somebody's server: its address can carry data away, so it is asked for only when the person wants it. */
export function RemoteImage({ address, description }: { address: string; description: string }) {
  const t = useText();
  const [isWanted, setWanted] = useState(false);
  const url = imageAddress(address);
  if (!url)
    return (
      <span className={classes.blocked}>
        {t('markdown.imageBlocked', { description: description || t('markdown.image') })}
      </span>
    );
  if (isWanted)
    return (
      <img src={url.href} alt={description} referrerPolicy="no-referrer" loading="lazy" className={classes.image} />
    );
  return (
    <button type="button" className={classes.imageButton} title={url.href} onClick={() => setWanted(true)}>
      <ImageIcon size={16} aria-hidden />
      <span>{description || t('markdown.image')}</span>
      <span className={classes.host}>{t('markdown.loadImage', { host: url.host })}</span>
    </button>
  );
}
