import { ImageIcon } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../../i18n/i18n.ts';
import classes from '../markdown.module.css';
import { imageAddress } from './links.ts';

/** An image on another server. Its address can leak data, so it is loaded only when the person asks for it. */
export function RemoteImage({ address, description }: { address: string; description: string }) {
  const t = useText();
  const [state, setState] = useState<'offered' | 'wanted' | 'failed'>('offered');
  const url = imageAddress(address);
  const name = description || t('markdown.image');
  if (!url) return <span className={classes.blocked}>{t('markdown.imageBlocked', { description: name })}</span>;
  if (state === 'failed') {
    return (
      <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={url.href}>
        {t('markdown.openImage', { description: name })}
      </a>
    );
  }
  if (state === 'wanted') {
    const fail = () => setState('failed');
    return (
      <img src={url.href} alt={description} referrerPolicy="no-referrer" onError={fail} className={classes.image} />
    );
  }
  return (
    <button type="button" className={classes.imageButton} title={url.href} onClick={() => setState('wanted')}>
      <ImageIcon size={16} aria-hidden />
      <span>{name}</span>
      <span className={classes.host}>{t('markdown.loadImage', { host: url.host })}</span>
    </button>
  );
}
