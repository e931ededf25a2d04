"""Transfers under the policy's hand: their shares of links, held or capped."""
