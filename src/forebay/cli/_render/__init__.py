"""What commands say: tables, sentences and progress on a terminal, or JSON."""
